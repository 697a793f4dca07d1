/** What this instance knows of servers that no longer offer what was approved: tools, prompts, resources, templates and apps. */

import { BoundedMap } from '../base/bounded-map.ts';
import type { McpServer, PinnedApp } from '../base/schema.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import type { Report } from '../events/report.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { exposedNames, toolUi } from './pinned-tools.ts';
import {
  compareWithPin,
  type ItemChange,
  type ListKind,
  type PinnedKind,
  storeDrift,
  toolFingerprints,
  withDrifted,
} from './pins.ts';

export interface LiveList {
  readonly items: readonly unknown[];
  /** With the list of tools. */
  readonly instructions?: string | undefined;
}

export interface Drift {
  readonly kind: PinnedKind;
  readonly changes: readonly ItemChange[];
  /** Those that have changed, and were not known to. */
  readonly news: readonly string[];
  readonly instructionsChanged: boolean;
}

export interface PinWatchOptions {
  readonly ttlMs: number;
  readonly now: () => number;
  /** Receives the differences of a list when they are not those that were reported before. Must not reject. */
  readonly onDrift: (server: McpServer, drift: Drift) => Promise<void>;
}

interface ListState {
  comparedAt: number | undefined;
  comparing: Promise<void> | undefined;
  /** How often it was flagged: a flag that comes during a comparison outlives it. */
  flags: number;
  /** Have changed since they were approved: hidden until a person looks again, whatever the server offers by then. */
  readonly changed: Set<string>;
  /** Are not offered at present. */
  removed: ReadonlySet<string>;
  reported: string;
}

interface ServerState {
  readonly lists: Map<PinnedKind, ListState>;
  marked: WeakMap<McpServer, McpServer>;
}

const maxServers = 1000;

/** Watches the servers that this instance talks to. Each approval has its own state: a server that is approved again starts over. */
export class PinWatch {
  readonly #options: PinWatchOptions;
  readonly #servers = new BoundedMap<string, ServerState>(maxServers);

  constructor(options: PinWatchOptions) {
    this.#options = options;
  }

  current(server: McpServer): McpServer {
    const { changed, removed } = this.#list(server, 'tools');
    if (changed.size === 0 && removed.size === 0) return server;
    const { marked } = this.#server(server);
    const known = marked.get(server) ?? withDrifted(server, 'tools', [...changed, ...removed]);
    marked.set(server, known);
    return known;
  }

  isHidden(server: McpServer, kind: PinnedKind, id: string): boolean {
    const { changed, removed } = this.#list(server, kind);
    return changed.has(id) || removed.has(id);
  }

  /** Whether the list must be compared before anything of it is used again. */
  isDue(server: McpServer, kind: ListKind): boolean {
    const { comparedAt } = this.#list(server, kind);
    return comparedAt === undefined || this.#options.now() - comparedAt >= this.#options.ttlMs;
  }

  /** From now on the list is due, as after the server says that it has changed. One of resources may be one of templates. */
  flag(server: McpServer, kind: ListKind): void {
    const list = this.#list(server, kind);
    list.comparedAt = undefined;
    list.flags += 1;
    if (kind === 'resources') this.flag(server, 'templates');
  }

  /** Compares with the result of `read`; concurrent callers share it. Rejects as `read` does. */
  async compare(server: McpServer, kind: ListKind, read: () => Promise<LiveList>): Promise<void> {
    const list = this.#list(server, kind);
    // Who was first may have been stopped with its run: that is no answer for those who waited.
    if (await list.comparing?.then(() => true, () => false) === true) return;
    list.comparing ??= this.#compare(server, kind, read).finally(() => {
      list.comparing = undefined;
    });
    await list.comparing;
  }

  /** Hides an app until a person looks again, whatever the server answers by then. Its tools keep working. */
  async hideApp(server: McpServer, uri: string): Promise<void> {
    const { changed } = this.#list(server, 'apps');
    if (changed.has(uri)) return;
    changed.add(uri);
    await this.#options.onDrift(server, { kind: 'apps', changes: [], news: [uri], instructionsChanged: false });
  }

  isAppHidden(server: McpServer, { uri, status }: PinnedApp): boolean {
    return status === 'drifted' || this.isHidden(server, 'apps', uri);
  }

  /** Returns the pinned app of a tool, while it may be shown. */
  appOf(server: McpServer, definition: unknown): PinnedApp | undefined {
    if (!server.apps || !server.pinned?.apps) return undefined;
    const { uri } = toolUi(definition);
    const app = server.pinned.apps.find((one) => one.uri === uri);
    return app && !this.isAppHidden(server, app) ? app : undefined;
  }

  async #compare(server: McpServer, kind: ListKind, read: () => Promise<LiveList>): Promise<void> {
    const { pinned } = server;
    if (!pinned) return;
    const list = this.#list(server, kind);
    const { flags, removed: before } = list;
    const startedAt = this.#options.now();
    const live = await read();
    const changes = await compareWithPin(pinned, kind, live.items);
    list.comparedAt = list.flags === flags ? startedAt : undefined;
    const idsOf = (wanted: ItemChange['kind']) =>
      changes.flatMap((change) => change.kind === wanted ? [change.id] : []);
    const news = idsOf('changed').filter((id) => !list.changed.has(id));
    for (const id of news) list.changed.add(id);
    list.removed = new Set(idsOf('removed'));
    if (news.length > 0 || [...before].join() !== [...list.removed].join()) this.#server(server).marked = new WeakMap();
    const instructionsChanged = kind === 'tools' && (pinned.instructions ?? '') !== (live.instructions ?? '');
    const report = JSON.stringify([changes, instructionsChanged]);
    if (report === list.reported) return;
    list.reported = report;
    await this.#options.onDrift(server, { kind, changes, news, instructionsChanged });
  }

  #server(server: McpServer): ServerState {
    return this.#servers.getOrCreate(approvalOf(server), () => ({ lists: new Map(), marked: new WeakMap() }));
  }

  #list(server: McpServer, kind: PinnedKind): ListState {
    const { lists } = this.#server(server);
    const list = lists.get(kind) ?? {
      comparedAt: undefined,
      comparing: undefined,
      flags: 0,
      changed: new Set(),
      removed: new Set(),
      reported: JSON.stringify([[], false]),
    };
    lists.set(kind, list);
    return list;
  }
}

const approvals = new WeakMap<McpServer, string>();

function approvalOf(server: McpServer): string {
  const { tenant = null, id, url, validatedAt, pinned } = server;
  const counts = [pinned?.prompts, pinned?.resources, pinned?.templates].map((items) => items?.length ?? 0);
  const key = approvals.get(server) ??
    JSON.stringify([tenant, id, url, validatedAt, toolFingerprints(server), counts]);
  approvals.set(server, key);
  return key;
}

export interface DriftRecordOptions {
  readonly catalog: Catalog;
  readonly emit: Emit;
  readonly report?: Report;
  readonly onWritten: (server: Pick<McpServer, 'id' | 'tenant'>) => void | Promise<void>;
}

/** Emits what has drifted, and stores what has changed, so that every instance hides it. What the server says now is not repeated. */
export async function recordDrift(
  server: McpServer,
  drift: Drift,
  { emit, report, catalog, onWritten }: DriftRecordOptions,
): Promise<void> {
  const { kind, changes, news } = drift;
  if (kind === 'tools') emitToolDrift(server, drift, emit);
  else if (news.length === 0) return;
  else emitDrift(emit, 'mcp.content_changed', { type: 'mcp-server', id: server.id }, { kind, changed: news.length });
  const ids = kind === 'tools' ? changes.flatMap((change) => change.kind === 'changed' ? [change.id] : []) : news;
  if (ids.length === 0 || !await storeDrift(catalog, server, { kind, ids })) return;
  // The catalog has it, and caches expire soon.
  await Promise.resolve(onWritten(server)).catch((cause: unknown) => report?.(cause, { kind: 'mcp', id: server.id }));
}

function emitToolDrift(server: McpServer, { changes, instructionsChanged }: Drift, emit: Emit): void {
  const hidden = changes.filter(({ kind }) => kind !== 'added');
  const names = exposedNames(server.alias, (server.pinned?.tools ?? []).map(({ definition }) => definition.name));
  for (const { id, kind, fields, old, new: now } of hidden) {
    const shown = kind === 'removed'
      ? { change: kind }
      : { change: kind, fields: fields.join(','), pinned: old?.slice(0, 12), offered: now?.slice(0, 12) };
    emitDrift(emit, 'mcp.tool_changed', { type: 'tool', id: names.get(id) ?? server.alias }, shown);
  }
  const added = changes.length - hidden.length;
  if (added === 0 && !instructionsChanged) return;
  emitDrift(emit, 'mcp.server_changed', { type: 'mcp-server', id: server.id }, { added, instructionsChanged });
}

function emitDrift(
  emit: Emit,
  action: string,
  target: { readonly type: 'tool' | 'mcp-server'; readonly id: string },
  shown: Parameters<typeof summaryOf>[0],
): void {
  emit({
    traceId: createTraceId(),
    actor: { type: 'system', id: 'mcp' },
    action,
    target,
    status: 'denied',
    latency: 0,
    error: null,
    payloadSummary: summaryOf(shown),
  });
}
