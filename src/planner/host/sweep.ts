/** Finds plans that are due. */

import type { Storage } from '../../contracts/storage.ts';
import { duePrefix } from '../journal/plan-record.ts';

/** The plans whose time has come, the first of them first; at most a thousand at a time. */
export async function duePlans(storage: Storage, now: number): Promise<readonly string[]> {
  const entries = await storage.list({ prefix: duePrefix, limit: 1000 });
  return entries.filter(({ key }) => Number(key[1]) <= now).map(({ value }) => value as string); // written with the head
}
