/** Opens the playground's storage in the current format. */

import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import { type Place, storageFormat } from './formats.ts';

/** Creates the storage of a database; it opens nothing before it is used. */
export function openStorage(name: Exclude<Place, 'settings'>): ClosableStorage & Watchable {
  return indexedDbStorage({ name, format: storageFormat(name) });
}
