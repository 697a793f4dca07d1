/** The script of the worker that searches the page: neither reading nor indexing holds up the page. */

import { expose } from 'comlink';
import { openStorage } from '../storage/open-storage.ts';
import { SearchIndex } from './search-index.ts';

expose(new SearchIndex(openStorage('pinnace-playground')));
