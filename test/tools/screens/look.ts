/** What is wrong with a screen as it is now: to axe, and where it is too wide. */

import type { Page } from 'playwright';
import { settled, violations, violationsOfColour } from '../browsers/axe.ts';

/** What axe finds wrong in light colours, and in dark ones: the rule, and where. */
export async function violationsInBoth(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const dark = await violationsOfColour(page);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  return [...light, ...dark.map((each) => `dark: ${each}`)];
}

/** The narrowest window, which is one of 1280 px at 400 % (WCAG 1.4.10), and a wide one. */
const windows = [{ width: 320, height: 640 }, { width: 1920, height: 1080 }];

/** What reaches out of windows of 320 and of 1920 px. Data that is wide by nature scrolls by itself. */
export async function tooWide(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  const found: string[] = [];
  for (const size of windows) {
    await page.setViewportSize(size);
    await page.evaluate(settled);
    found.push(...(await page.evaluate(widerThanWindow)).map((each) => `${size.width} px: ${each}`));
  }
  if (before) await page.setViewportSize(before);
  return found;
}

/** Runs in the page. */
function widerThanWindow(): string[] {
  const { innerWidth } = globalThis;
  /** Whether something around it scrolls sideways by itself, or cuts off with dots. */
  const isHeld = (element: Element): boolean => {
    for (let around = element.parentElement; around; around = around.parentElement) {
      const { overflowX, textOverflow, clipPath } = getComputedStyle(around);
      const { left, right } = around.getBoundingClientRect();
      const isInside = left >= -1 && right <= innerWidth + 1;
      const isOwn = overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis';
      if (isInside && (isOwn && !around.matches('main, [class$=-body]') || clipPath !== 'none')) return true;
    }
    return false;
  };
  const all = [...document.querySelectorAll('#app *')].filter((element) => {
    if (element.closest('.side-bar[data-open=false]')) return false; // the drawer is shut, or on its way out of the window
    const { left, right, width } = element.getBoundingClientRect();
    if (width <= 1 || !element.checkVisibility({ visibilityProperty: true })) return false;
    return (right > innerWidth + 1 || left < -1) && !element.closest('svg *') && !isHeld(element);
  });
  return all.map((element) => {
    const { left, right } = element.getBoundingClientRect();
    const name = element.getAttribute('data-testid') ?? element.getAttribute('class') ?? '';
    return `${element.localName} ${name} from ${left.toFixed(0)} to ${right.toFixed(0)}`;
  });
}
