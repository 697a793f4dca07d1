/** How the playground feels in Chromium, by the page's own entries: its start, a chat of 5,000 messages, a fast stream beside a million nodes. */

import process from 'node:process';
import { report } from '../measure.ts';
import { measureIndexing } from './indexing.ts';
import { measureLongChat } from './long-chat.ts';
import { measureStart } from './start.ts';
import { measureStream } from './stream.ts';
import { withPlayground } from './with-playground.ts';

await withPlayground(async (bench) => {
  const only = process.env['PAGE_PART'];
  const parts = { start: measureStart, chat: measureLongChat, stream: measureStream, indexing: measureIndexing };
  const rows = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only === undefined || only === name) rows.push(...await part(bench));
  }
  report('The playground’s page in Chromium', rows);
});
process.exit(0);
