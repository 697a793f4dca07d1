/** The entries of a room, and how they are written. */

import type { Key } from '../../../src/base/key.ts';
import type { Change, Entry, Storage } from '../../../src/contracts/storage.ts';
import type { Room } from './rooms.ts';

export type Pair = Pick<Entry, 'key' | 'value'>;

const pageSize = 200;
const commitSize = 50;

export async function readRoom(storage: Storage, { kinds }: Room): Promise<Pair[]> {
  const all: Pair[] = [];
  for (const kind of kinds) all.push(...await readKind(storage, kind));
  return all;
}

/** Writes these entries in the place of those. What was there is put back where a write fails, as on a full disk. */
export async function replaceEntries(storage: Storage, before: readonly Pair[], after: readonly Pair[]): Promise<void> {
  const names = new Set(after.map(({ key }) => nameOf(key)));
  const removed = before.filter(({ key }) => !names.has(nameOf(key)));
  try {
    await commit(storage, [...removed.map(({ key }) => ({ key })), ...after]);
  } catch (error) {
    const known = new Set(before.map(({ key }) => nameOf(key)));
    const added = after.filter(({ key }) => !known.has(nameOf(key)));
    await commit(storage, [...added.map(({ key }) => ({ key })), ...before]).catch(() => undefined); // the first error says more
    throw error;
  }
}

async function readKind(storage: Storage, kind: string): Promise<Pair[]> {
  const all: Pair[] = [];
  for (;;) {
    const after = all.at(-1)?.key;
    const page = await storage.list({ prefix: [kind], limit: pageSize, ...(after && { after }) });
    all.push(...page.map(({ key, value }) => ({ key, value })));
    if (page.length < pageSize) return all;
  }
}

async function commit(storage: Storage, changes: readonly Change[]): Promise<void> {
  for (let i = 0; i < changes.length; i += commitSize) await storage.commit(changes.slice(i, i + commitSize));
}

function nameOf(key: Key): string {
  return JSON.stringify(key);
}
