/** How the playground feels in Chromium, by the page's own entries: its start, a chat of 5,000 messages, a fast stream beside a million nodes. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { chromium as browserType } from 'playwright';
import { build, preview } from 'vite';
import { chromium } from '../../tools/browsers/chromium.ts';
import { report } from '../measure.ts';
import { measureLongChat } from './long-chat.ts';
import { measureStart } from './start.ts';
import { measureStream } from './stream.ts';

const root = join(import.meta.dirname, '../../..');
const configFile = join(root, 'vite.config.ts');
const outDir = await mkdtemp(join(tmpdir(), 'page-bench-'));
await build({ configFile, logLevel: 'error', build: { outDir } });
const server = await preview({ configFile, preview: { port: 0 }, build: { outDir } });
const browser = await browserType.launch(chromium);
try {
  const bench = { browser, url: server.resolvedUrls?.local[0] ?? '' };
  const only = process.env['PAGE_PART'];
  const parts = { start: measureStart, chat: measureLongChat, stream: measureStream };
  const rows = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only === undefined || only === name) rows.push(...await part(bench));
  }
  report('The playground’s page in Chromium', rows);
} finally {
  await browser.close();
  await server.close();
  await rm(outDir, { recursive: true });
}
process.exit(0);
