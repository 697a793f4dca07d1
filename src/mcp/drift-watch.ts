/** What this instance knows of servers that no longer offer what was approved. */

import { BoundedMap } from '../base/bounded-map.ts';
import type { McpServer } from '../base/schema.ts';
import { compareWithPin, type Drift, type Offer } from './drift.ts';

/** Watches the servers that this instance talks to. */
export interface DriftWatch {
  /** The server with what has drifted marked as such. The same object for as long as nothing changes. */
  current(server: McpServer): McpServer;
  isDrifted(server: McpServer, name: string): boolean;
  /** Whether the server must be compared before it is called again. */
  isDue(server: McpServer): boolean;
  /** From now on it is due, as after the server says that its tools have changed. */
  flag(server: McpServer): void;
  /** Compares with the result of `list`; concurrent callers share it. Rejects as `list` does. */
  compare(server: McpServer, list: () => Promise<Offer>): Promise<void>;
}

/** What the watch goes by. */
export interface DriftWatchOptions {
  /** How long a comparison is good for. */
  readonly ttlMs: number;
  readonly now: () => number;
  /** Receives the differences when they have changed. Must not reject. */
  readonly onDrift: (server: McpServer, drift: Drift) => Promise<void>;
}

/** What is known of one server as it was approved. */
interface Known {
  comparedAt: number | undefined;
  comparing: Promise<void> | undefined;
  /** How often it was flagged: a flag that comes during a comparison outlives it. */
  flags: number;
  /** Have changed since they were approved: hidden until a person looks again, whatever the server offers by then. */
  readonly changed: Set<string>;
  /** Are not offered at present. */
  removed: ReadonlySet<string>;
  reported: string;
  marked: WeakMap<McpServer, McpServer>;
}

const maxServers = 1000;

/** Creates a watch without state. Each approval has its own state: a server that is approved again starts over. */
export function createDriftWatch({ ttlMs, now, onDrift }: DriftWatchOptions): DriftWatch {
  const all = new BoundedMap<string, Known>(maxServers);
  const knownOf = (server: McpServer): Known => all.getOrCreate(keyOf(server), newlyKnown);
  const compare = async (server: McpServer, known: Known, list: () => Promise<Offer>): Promise<void> => {
    const { pinned } = server;
    if (!pinned) return;
    const { flags } = known;
    const startedAt = now();
    const drift = await compareWithPin(pinned, await list());
    known.comparedAt = known.flags === flags ? startedAt : undefined;
    const before = hiddenIn(known);
    for (const { name, kind } of drift.tools) if (kind === 'changed') known.changed.add(name);
    known.removed = new Set(drift.tools.filter(({ kind }) => kind === 'removed').map(({ name }) => name));
    if (hiddenIn(known) !== before) known.marked = new WeakMap();
    const news = JSON.stringify(drift);
    if (news === known.reported) return;
    known.reported = news;
    await onDrift(server, drift);
  };
  return {
    isDrifted: (server, name) => isHidden(knownOf(server), name),
    isDue(server) {
      const { comparedAt } = knownOf(server);
      return comparedAt === undefined || now() - comparedAt >= ttlMs;
    },
    flag(server) {
      const known = knownOf(server);
      known.comparedAt = undefined;
      known.flags += 1;
    },
    current(server) {
      const known = knownOf(server);
      if (known.changed.size === 0 && known.removed.size === 0) return server;
      const marked = known.marked.get(server) ?? mark(server, known);
      known.marked.set(server, marked);
      return marked;
    },
    async compare(server, list) {
      const known = knownOf(server);
      // Who was first may have been stopped with its run: that is no answer for those who waited.
      if (await known.comparing?.then(() => true, () => false) === true) return;
      known.comparing ??= compare(server, known, list).finally(() => {
        known.comparing = undefined;
      });
      await known.comparing;
    },
  };
}

function newlyKnown(): Known {
  return {
    comparedAt: undefined,
    comparing: undefined,
    flags: 0,
    changed: new Set(),
    removed: new Set(),
    reported: JSON.stringify({ tools: [], instructionsChanged: false }),
    marked: new WeakMap(),
  };
}

const keys = new WeakMap<McpServer, string>();

function keyOf(server: McpServer): string {
  const key = keys.get(server) ??
    JSON.stringify([
      server.tenant ?? null,
      server.id,
      server.url,
      server.validatedAt,
      server.pinned?.tools.map(({ fingerprint }) => fingerprint),
    ]);
  keys.set(server, key);
  return key;
}

function isHidden({ changed, removed }: Known, name: string): boolean {
  return changed.has(name) || removed.has(name);
}

function hiddenIn({ changed, removed }: Known): string {
  return JSON.stringify([[...changed], [...removed]]);
}

function mark(server: McpServer, known: Known): McpServer {
  const { pinned } = server;
  if (!pinned) return server;
  const tools = pinned.tools.map((tool) =>
    isHidden(known, tool.definition.name) ? { ...tool, status: 'drifted' as const } : tool
  );
  return { ...server, pinned: { ...pinned, tools } };
}
