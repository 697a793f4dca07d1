/** What this instance knows of prompts, resources and templates that are no longer as they were approved. Each is hidden alone. */

import { BoundedMap } from '../../base/bounded-map.ts';
import { checkData } from '../../base/json.ts';
import type { McpServer } from '../../base/schema.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import { contentFingerprint, contentId, pinnedContent } from './kinds.ts';

/** Watches what servers list. */
export interface ContentWatch {
  isHidden(server: McpServer, kind: McpContentKind, id: string): boolean;
  /** Whether the list must be compared before anything of it is read. */
  isDue(server: McpServer, kind: McpContentKind): boolean;
  /** From now on it is due. */
  flag(server: McpServer, kind: McpContentKind): void;
  /** Compares with the result of `list`; concurrent callers share it. Rejects as `list` does. */
  compare(server: McpServer, kind: McpContentKind, list: () => Promise<readonly unknown[]>): Promise<void>;
}

/** What the watch goes by. */
export interface ContentWatchOptions {
  /** How long a comparison is good for. */
  readonly ttlMs: number;
  readonly now: () => number;
  /** Receives what has changed and was not reported before. Must not reject. */
  readonly onDrift: (server: McpServer, kind: McpContentKind, changed: readonly string[]) => Promise<void>;
}

interface Known {
  comparedAt: number | undefined;
  comparing: Promise<void> | undefined;
  /** A flag that comes during a comparison outlives it. */
  flags: number;
  /** Hidden until a person looks again, whatever the server lists by then. */
  readonly changed: Set<string>;
  removed: ReadonlySet<string>;
}

const maxLists = 1000;

/** Creates a watch without state. A server that is approved again starts over. */
export function createContentWatch({ ttlMs, now, onDrift }: ContentWatchOptions): ContentWatch {
  const all = new BoundedMap<string, Known>(maxLists);
  const knownOf = (server: McpServer, kind: McpContentKind): Known => all.getOrCreate(keyOf(server, kind), newlyKnown);
  const compare = async (
    known: Known,
    { server, kind }: { readonly server: McpServer; readonly kind: McpContentKind },
    list: () => Promise<readonly unknown[]>,
  ): Promise<void> => {
    const { flags } = known;
    const startedAt = now();
    const { changed, removed } = await compareContent(server, kind, await list());
    known.comparedAt = known.flags === flags ? startedAt : undefined;
    const news = changed.filter((id) => !known.changed.has(id));
    for (const id of news) known.changed.add(id);
    known.removed = new Set(removed);
    if (news.length > 0) await onDrift(server, kind, news);
  };
  return {
    isHidden(server, kind, id) {
      const { changed, removed } = knownOf(server, kind);
      return changed.has(id) || removed.has(id);
    },
    isDue(server, kind) {
      const { comparedAt } = knownOf(server, kind);
      return comparedAt === undefined || now() - comparedAt >= ttlMs;
    },
    flag(server, kind) {
      const known = knownOf(server, kind);
      known.comparedAt = undefined;
      known.flags += 1;
    },
    async compare(server, kind, list) {
      const known = knownOf(server, kind);
      if (await known.comparing?.then(() => true, () => false) === true) return;
      known.comparing ??= compare(known, { server, kind }, list).finally(() => {
        known.comparing = undefined;
      });
      await known.comparing;
    },
  };
}

function newlyKnown(): Known {
  return { comparedAt: undefined, comparing: undefined, flags: 0, changed: new Set(), removed: new Set() };
}

function keyOf({ tenant, id, url, validatedAt, pinned }: McpServer, kind: McpContentKind): string {
  return JSON.stringify([kind, tenant ?? null, id, url, validatedAt, pinnedContent(pinned, kind).length]);
}

/** A definition that is listed twice has changed, whatever it says. */
async function compareContent(
  { pinned }: McpServer,
  kind: McpContentKind,
  live: readonly unknown[],
): Promise<{ readonly changed: readonly string[]; readonly removed: readonly string[] }> {
  const byId = Map.groupBy(live, (definition) => contentId(kind, definition) ?? '');
  const changes = await Promise.all(
    pinnedContent(pinned, kind).map(async ({ definition, fingerprint }) => {
      const id = contentId(kind, definition) ?? '';
      const now = byId.get(id) ?? [];
      if (now.length === 0) return { id, kind: 'removed' } as const;
      const isSame = now.length === 1 && await fingerprintOfLive(kind, now[0]) === fingerprint;
      return isSame ? undefined : { id, kind: 'changed' } as const;
    }),
  );
  const of = (change: 'changed' | 'removed') => changes.flatMap((one) => one?.kind === change ? [one.id] : []);
  return { changed: of('changed'), removed: of('removed') };
}

async function fingerprintOfLive(kind: McpContentKind, definition: unknown): Promise<string> {
  try {
    checkData(definition);
  } catch {
    return 'unreadable';
  }
  return await contentFingerprint(kind, definition);
}
