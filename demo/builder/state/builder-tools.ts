/** Finds tools for an agent: by words, and whole benches of them at once. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { AnyRecord, RegistryControl } from '../../registry/worker/control.ts';

/** Tools with a common id prefix; the agent finds them by search. */
export interface Bench {
  /** The allowlist entry: `desk_*`. */
  readonly pattern: string;
  readonly count: number;
}

/** The finder. */
export interface ToolFinder {
  readonly query: ReadonlySignal<string>;
  /** Those that fit, the first of them. */
  readonly found: ReadonlySignal<readonly AnyRecord[]>;
  /** Whether there are more. */
  readonly hasMore: ReadonlySignal<boolean>;
  /** The largest first. */
  readonly benches: ReadonlySignal<readonly Bench[]>;
  /** How many tools there are. */
  readonly total: ReadonlySignal<number>;
  load(): Promise<void>;
  search(query: string): Promise<void>;
}

/** The patterns of the discovery tools: who has them starts with these four. */
export const discoveryPattern = 'tool_*';

/** The fewest tools of a bench. */
const benchFrom = 20;
const shown = 12;
const pageSize = 200;
const maxPages = 20;

/** Creates the finder. */
export function createToolFinder(control: Pick<RegistryControl, 'list'>): ToolFinder {
  const query = signal('');
  const found = signal<readonly AnyRecord[]>([]);
  const hasMore = signal(false);
  const benches = signal<readonly Bench[]>([]);
  const total = signal(0);
  let turn = 0;

  async function search(words: string): Promise<void> {
    query.value = words;
    const mine = ++turn;
    const text = words.trim();
    const answer = await control.list('tool', { limit: shown, ...(text !== '' && { text }) }).catch(() => undefined);
    if (mine !== turn || !answer?.ok) return;
    found.value = answer.value.items;
    hasMore.value = answer.value.nextPageToken !== undefined;
  }

  return {
    query,
    found,
    hasMore,
    benches,
    total,
    search,
    async load() {
      const ids = await idsOf(control);
      total.value = ids.length;
      benches.value = benchesOf(ids);
      await search(query.value);
    },
  };
}

async function idsOf(control: Pick<RegistryControl, 'list'>): Promise<readonly string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const query = { limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const answer = await control.list('tool', query).catch(() => undefined);
    if (!answer?.ok) break;
    ids.push(...answer.value.items.map(({ id }) => id));
    pageToken = answer.value.nextPageToken;
    if (pageToken === undefined) break;
  }
  return ids;
}

function benchesOf(ids: readonly string[]): readonly Bench[] {
  const prefixed = ids.filter((id) => /^[A-Za-z0-9-]+_/.test(id));
  return [...Map.groupBy(prefixed, (id) => id.slice(0, id.indexOf('_') + 1))]
    .map(([prefix, { length }]) => ({ pattern: `${prefix}*`, count: length }))
    .filter(({ count }) => count >= benchFrom)
    .toSorted((a, b) => b.count - a.count);
}
