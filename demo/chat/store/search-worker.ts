/** The script of the worker that searches the chats: neither reading nor indexing them holds up the page. */

import { expose } from 'comlink';
import { openStorage } from '../../storage/open-storage.ts';
import { createChatIndex } from './chat-index.ts';

expose(createChatIndex(openStorage('pinnace-playground')));
