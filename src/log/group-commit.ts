/** Groups many small commits into one: what is committed while the storage is busy goes into the next group. */

import type { Change, CommitResult, Storage, Watchable } from '../contracts/storage.ts';
import { withCalls } from './commits.ts';

/** The most changes that a commit may have. */
const maxChanges = 100;

interface Waiting {
  readonly changes: readonly Change[];
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns the same storage with its commits grouped. Each stays all-or-nothing by itself: when a group is refused or fails, its
 * members are committed one by one.
 */
export function groupCommits(storage: Storage & Partial<Watchable>): Storage & Partial<Watchable> {
  const add = createBatches<Waiting>((queue) => commitGroup(storage, takeGroup(queue)));
  return withCalls(storage, {
    get: (key) => storage.get(key),
    list: (options) => storage.list(options),
    commit: (changes) => new Promise((resolve, reject) => add({ changes, resolve, reject })),
  });
}

interface Group {
  readonly members: readonly Waiting[];
  /** Those of all members, where there are several; a check that several make is among them once. */
  readonly changes: readonly Change[];
}

/** Takes from the front as many as fit into one commit and touch different keys. Several may check the same version of a key. */
function takeGroup(queue: Waiting[]): Group {
  if (queue.length === 1) return { members: queue.splice(0), changes: [] };
  const members: Waiting[] = [];
  const byKey = new Map<string, Change>();
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    const own = next.changes.map((change) => [JSON.stringify(change.key), change] as const);
    const added = own.filter(([key, change]) => !isSameCheck(byKey.get(key), change));
    if (members.length > 0 && (byKey.size + added.length > maxChanges || added.some(([key]) => byKey.has(key)))) break;
    for (const [key, change] of added) byKey.set(key, change);
    members.push(next);
    queue.shift();
  }
  return { members, changes: [...byKey.values()] };
}

function isSameCheck(known: Change | undefined, { keep, ifVersion }: Change): boolean {
  return known?.keep === true && keep === true && known.ifVersion === ifVersion;
}

async function commitGroup(storage: Storage, { members: group, changes: all }: Group): Promise<void> {
  if (group.length > 1) {
    const result = await storage.commit(all).catch(() => undefined);
    if (result?.ok) return group.forEach(({ resolve }) => resolve(result));
  }
  await Promise.all(group.map(({ changes, resolve, reject }) => storage.commit(changes).then(resolve, reject)));
}

/**
 * Returns the function that adds an item. `work` takes from the front of the queue as many items as it does at once, one at least; it
 * never rejects, and runs once at a time.
 */
export function createBatches<T>(work: (queue: T[]) => Promise<void>): (item: T) => void {
  const queue: T[] = [];
  let busy = false;
  const run = async (): Promise<void> => {
    busy = true;
    await Promise.resolve(); // what is added in this turn goes together
    while (queue.length > 0) await work(queue);
    busy = false;
  };
  return (item) => {
    queue.push(item);
    if (!busy) void run();
  };
}
