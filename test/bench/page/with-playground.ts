/** The built playground, served on this machine, and a Chromium to open it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as browserType } from 'playwright';
import { build, preview } from 'vite';
import { chromium } from '../../tools/browsers/chromium.ts';
import type { Bench } from './rows.ts';

const root = join(import.meta.dirname, '../../..');

/** Builds and serves the page while `act` runs. */
export async function withPlayground(act: (bench: Bench) => Promise<void>): Promise<void> {
  const configFile = join(root, 'vite.config.ts');
  const outDir = await mkdtemp(join(tmpdir(), 'page-bench-'));
  await build({ configFile, logLevel: 'error', build: { outDir } });
  const server = await preview({ configFile, preview: { port: 0 }, build: { outDir } });
  const browser = await browserType.launch(chromium);
  try {
    await act({ browser, url: server.resolvedUrls?.local[0] ?? '' });
  } finally {
    await browser.close();
    await server.close();
    await rm(outDir, { recursive: true });
  }
}
