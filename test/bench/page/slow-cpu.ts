/** A slower CPU, as a phone has it. */

import type { Page } from 'playwright';

/** How many times slower. */
export const slowness = 4;

/** Slows the page's thread down from now on. */
export async function slowDown(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowness });
}
