/** A short film: an agent requests an approval, and continues. */

import type { Page } from 'playwright';
import type { Frame } from './animated-webp.ts';
import { choose } from '../screens/ways.ts';

export const filmSize = { width: 800, height: 560 };

const frameMs = 120;

/** Takes the film. `shoot` returns a still picture of the window. An unchanged frame prolongs the frame before it. */
export async function film(page: Page, shoot: () => Promise<Uint8Array>): Promise<Frame[]> {
  const frames: { webp: Uint8Array; durationMs: number }[] = [];
  async function take(durationMs = frameMs): Promise<void> {
    const webp = await shoot();
    const last = frames.at(-1);
    if (last && isSame(last.webp, webp)) last.durationMs += durationMs;
    else frames.push({ webp, durationMs });
  }
  /** Until what is waited for is there. */
  async function takeUntil(testId: string): Promise<void> {
    while (await page.getByTestId(testId).count() === 0) await take();
    await take(500);
  }

  await take(900);
  await choose(page, 'logbook');
  await take(700);
  const suggestion = page.getByTestId('suggestion').getByText('overboard');
  await suggestion.hover();
  await take(500);
  await suggestion.click();
  await takeUntil('approve');
  await take(1300);
  await page.getByTestId('approve').hover();
  await take(500);
  await page.getByTestId('approve').click();
  while (await page.getByTestId('send').count() === 0) await take();
  await take(2500);
  return frames;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
