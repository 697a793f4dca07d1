/** A person at the page, whose actions are counted. */

import type { Locator, Page } from 'playwright';

export interface Visitor {
  readonly page: Page;
  click(target: Locator): Promise<void>;
  /** Writes a text into a field. */
  write(target: Locator, text: string): Promise<void>;
  press(key: string): Promise<void>;
  /** How many clicks, texts and keys there were. */
  actions(): number;
  /** Milliseconds from now until something is in sight. */
  waits(target: Locator): Promise<number>;
}

export function createVisitor(page: Page): Visitor {
  let actions = 0;
  return {
    page,
    async click(target) {
      actions++;
      await target.click();
    },
    async write(target, text) {
      actions++;
      await target.fill(text);
    },
    async press(key) {
      actions++;
      await page.keyboard.press(key);
    },
    actions: () => actions,
    async waits(target) {
      const from = performance.now();
      await target.waitFor();
      return performance.now() - from;
    },
  };
}
