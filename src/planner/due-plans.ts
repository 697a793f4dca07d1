/** The index of plans by due time. It loads without the planner: processes without plans sweep as well. */

import type { Key } from '../base/key.ts';
import type { Storage } from '../contracts/storage.ts';

const duePrefix: Key = ['plan-due'];

/** Where the index has a plan. */
export function dueKey(dueAt: number, planId: string): Key {
  return [...duePrefix, dueAt, planId];
}

/** The plans whose time has come, the first of them first; at most a thousand at a time. */
export async function duePlans(storage: Storage, now: number): Promise<readonly string[]> {
  const entries = await storage.list({ prefix: duePrefix, limit: 1000 });
  return entries.filter(({ key }) => Number(key[1]) <= now).map(({ value }) => value as string); // written with the head
}
