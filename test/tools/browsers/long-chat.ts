/** Puts a long chat into the playground's storage, as if it had been written there. */

import { join } from 'node:path';
import type { Page } from 'playwright';
import { oneFile } from './one-file.ts';

/** Keeps a chat of so many messages (ids `m-0`, `m-1`, …) and opens the page again, which then lists it. */
export async function keepLongChat(page: Page, count: number): Promise<void> {
  const code = await oneFile(join(import.meta.dirname, 'long-chat-page.ts'), 'iife');
  await page.evaluate(`${code};keepLongChat(${count})`); // over the debugger: the page's policy lets no script in
  await page.reload();
  await page.locator('.chat-open').first().waitFor();
}
