/** Puts a long chat into the playground's storage, as if it had been written there. */

import { join } from 'node:path';
import type { Page } from 'playwright';
import { build, type Rolldown } from 'vite';

/** Keeps a chat of so many messages (ids `m-0`, `m-1`, …) and opens the page again, which then lists it. */
export async function keepLongChat(page: Page, count: number): Promise<void> {
  await page.evaluate(`${await code()};keepLongChat(${count})`); // over the debugger: the page's policy lets no script in
  await page.reload();
  await page.locator('.chat-open').first().waitFor();
}

async function code(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2024',
      lib: { entry: join(import.meta.dirname, 'long-chat-page.ts'), formats: ['iife'], name: 'longChat' },
    },
  });
  const [{ output: [chunk] }] = result as [Rolldown.RolldownOutput]; // safe: one format gives one output
  return chunk.code;
}
