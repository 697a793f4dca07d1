/** Opens what the playground keeps, in the format of now. */

import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import { type Place, storageFormat } from './formats.ts';

/** Gives the storage of a database; it opens nothing before it is used. */
export function openKept(name: Exclude<Place, 'settings'>): ClosableStorage & Watchable {
  return indexedDbStorage({ name, format: storageFormat(name) });
}
