/** Runs in storage: a head for each, and its events in parts, so that a long run is never written as a whole. */

import * as v from 'valibot';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { Change, Entry, Storage } from '../../../src/contracts/storage.ts';
import { readPages, removeKeys } from '../../../src/log/commits.ts';
import type { RunHead, RunRecord, RunTools } from '../../control/runs-control.ts';

/** Reads and writes runs. Rejects as the storage does. */
export interface RunStore {
  /** The latest first. */
  heads(): Promise<readonly RunHead[]>;
  read(traceId: string): Promise<StoredRun | undefined>;
  /** Writes the head, and the events that have come since, as part number `part`. Removes the oldest runs beyond the bounds. */
  write(head: RunHead, added: Added): Promise<void>;
  erase(): Promise<void>;
}

export interface StoredRun extends RunRecord {
  readonly parts: number;
}

/** What has come since a run was last written. */
export interface Added {
  readonly part: number;
  readonly events: readonly ObservedEvent[];
  readonly tools?: RunTools | undefined;
}

export interface StoreBounds {
  readonly runs: number;
  /** Over all runs. */
  readonly events: number;
}

const pageSize = 200;

/** The fields that must be there; an older version of the page may have written the rest otherwise. */
const Head = v.looseObject({ traceId: v.string(), startedAt: v.number(), events: v.number() });

export function createRunStore(
  storage: Storage,
  { runs = 50, events = 40_000 }: Partial<StoreBounds> = {},
): RunStore {
  async function heads(): Promise<readonly RunHead[]> {
    const entries = await readAll(storage, ['run']);
    const found = entries.flatMap(({ value }) => v.is(Head, value) ? [value as unknown as RunHead] : []); // ours, by its key
    return found.toSorted((a, b) => b.startedAt - a.startedAt);
  }

  /** The newest run stays, however long it is. */
  async function prune(): Promise<void> {
    let stored = 0;
    const surplus = (await heads()).filter((head, i) => {
      stored += head.events;
      return i > 0 && (i >= runs || stored > events);
    });
    for (const { traceId } of surplus) await remove(storage, traceId);
  }

  return {
    heads,
    async read(traceId) {
      const [head, parts, tools] = await Promise.all([
        storage.get(['run', traceId]),
        readAll(storage, ['events', traceId]),
        storage.get(['tools', traceId]),
      ]);
      if (!v.is(Head, head?.value)) return undefined;
      return {
        head: head.value as unknown as RunHead, // as above
        parts: parts.length,
        events: parts.flatMap(({ value }) => value as ObservedEvent[]),
        ...(tools && { tools: tools.value as RunTools }),
      };
    },
    async write(head, { part, events: added, tools }) {
      const { traceId } = head;
      const changes: Change[] = [{ key: ['run', traceId], value: head }];
      if (added.length > 0) changes.push({ key: ['events', traceId, part], value: added });
      if (tools) changes.push({ key: ['tools', traceId], value: tools });
      await storage.commit(changes);
      if (part === 0) await prune();
    },
    async erase() {
      for (const kind of ['run', 'events', 'tools']) {
        await removeKeys(
          storage,
          (await readAll(storage, [kind])).map(({ key }) => key),
        );
      }
    },
  };
}

async function remove(storage: Storage, traceId: string): Promise<void> {
  const parts = await readAll(storage, ['events', traceId]);
  await removeKeys(storage, [['run', traceId], ['tools', traceId], ...parts.map(({ key }) => key)]);
}

/** What lies under a prefix. Pages hold few entries: a part may have many events. */
async function readAll(storage: Storage, prefix: readonly string[]): Promise<Entry[]> {
  return (await Array.fromAsync(readPages(storage, { prefix, limit: pageSize }))).flat();
}
