/** Groups many small commits into one: what is committed while the storage is busy goes into the next group. */

import { createBatches } from './batches.ts';
import type { Change, CommitResult, Storage, Watchable } from '../contracts/storage.ts';

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
  return {
    ...(storage.checks && { checks: true }),
    get: (key) => storage.get(key),
    list: (options) => storage.list(options),
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
    commit: (changes) => new Promise((resolve, reject) => add({ changes, resolve, reject })),
  };
}

/** Takes from the front as many as fit into one commit and touch different keys. */
function takeGroup(queue: Waiting[]): Waiting[] {
  if (queue.length === 1) return queue.splice(0);
  const group: Waiting[] = [];
  const keys = new Set<string>();
  let changes = 0;
  for (let next = queue[0]; next !== undefined; next = queue[0]) {
    const own = next.changes.map(({ key }) => JSON.stringify(key));
    changes += own.length;
    if (group.length > 0 && (changes > maxChanges || own.some((key) => keys.has(key)))) break;
    for (const key of own) keys.add(key);
    group.push(next);
    queue.shift();
  }
  return group;
}

async function commitGroup(storage: Storage, group: readonly Waiting[]): Promise<void> {
  if (group.length > 1) {
    const result = await storage.commit(group.flatMap(({ changes }) => changes)).catch(() => undefined);
    if (result?.ok) return group.forEach(({ resolve }) => resolve(result));
  }
  await Promise.all(group.map(({ changes, resolve, reject }) => storage.commit(changes).then(resolve, reject)));
}
