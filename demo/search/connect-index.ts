/** The way to the search index, in a worker that starts with the first search. */

import { wrap } from 'comlink';
import type { SearchControl } from '../control/search-control.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { ownScript } from '../control/trusted.ts';
import type { SearchIndex } from './search-index.ts';
// oxlint-disable-next-line import/default -- Vite makes this module: it exports the address
import workerUrl from './search-worker.ts?worker&url';

let worker: SearchControl | undefined;
const here = new WeakMap<Storage, SearchControl>();

/** Returns the index. Where there are no workers, it is in the page. */
export async function connectIndex(storage: Storage): Promise<SearchControl> {
  if (typeof Worker === 'function') {
    return worker ??= wrap<SearchIndex>(new Worker(ownScript(workerUrl), { type: 'module', name: 'search' }));
  }
  const known = here.get(storage);
  if (known) return known;
  const { SearchIndex: Index } = await import('./search-index.ts');
  const index = new Index(storage);
  here.set(storage, index);
  return index;
}
