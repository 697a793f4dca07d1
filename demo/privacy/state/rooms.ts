/** Which parts of the browser's databases are exported, and how they are imported. Nothing else is. */

import type { Key } from '../../../src/base/key.ts';
import type { Place } from '../../storage/formats.ts';

/** Part of a database. */
export interface Room {
  readonly id: 'chats' | 'runs' | 'tree' | 'knowledge' | 'notes';
  readonly title: string;
  readonly database: Exclude<Place, 'settings'>;
  /** The first parts of its keys. */
  readonly kinds: readonly string[];
  /** `items`: the second part of a key names an item, and items are merged. `whole`: the import replaces everything. */
  readonly joined: 'items' | 'whole';
}

/** Secrets and whatever ends by itself (logs of runs that wait to be replayed, counters, caches) is in none of them. */
export const rooms: readonly Room[] = [
  {
    id: 'chats',
    title: 'Chats',
    database: 'pinnace-playground',
    kinds: ['message', 'chat', 'search'],
    joined: 'items',
  },
  { id: 'runs', title: 'Runs', database: 'pinnace-runs', kinds: ['events', 'tools', 'run'], joined: 'items' },
  { id: 'tree', title: 'Tree', database: 'pinnace', kinds: ['tree'], joined: 'whole' },
  {
    id: 'knowledge',
    title: 'Files',
    database: 'pinnace',
    kinds: ['embedding', 'grounding', 'ingest', 'knowledge'],
    joined: 'whole',
  },
  { id: 'notes', title: 'Notes', database: 'pinnace', kinds: ['notes'], joined: 'whole' },
];

/** The item that an entry belongs to. */
export function itemOf({ joined }: Room, key: Key): string {
  return joined === 'items' ? String(key[1]) : '';
}
