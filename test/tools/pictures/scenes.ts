/** The pictures of the README, each a window with something going on in it. */

import type { Page } from 'playwright';
import { send } from '../browsers/playground.ts';
import { choose, ended } from '../screens/ways.ts';

/** A picture: its name, how the window is, and the way to what it shows. */
export interface Scene {
  readonly name: string;
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly go: (page: Page) => Promise<void>;
}

export const scenes: readonly Scene[] = [
  {
    name: 'tree',
    async go(page) {
      await page.keyboard.press('Alt+t');
      await choose(page, 'bosun');
      await send(page, 'Add a task "Order new anchor chain" to "Rigging and sails"');
      await page.getByRole('treeitem', { name: 'Order new anchor chain' }).first().waitFor();
      await ended(page);
    },
  },
  {
    name: 'plan-graph',
    dark: true,
    async go(page) {
      await choose(page, 'commodore');
      await send(page, 'Calculate 1250 * 12; convert 5 knots to km/h; ask me which port we sail for');
      await page.locator('[data-testid=plan][data-state=suspended]').waitFor();
      await page.getByTestId('send').waitFor();
    },
  },
  {
    name: 'knowledge',
    async go(page) {
      await page.getByTestId('open-files').click();
      await page.getByTestId('knowledge-guide').click();
      await page.locator('[data-testid=knowledge-file][data-state=ready]').nth(5).waitFor();
      await page.getByTestId('files-back').click();
      await choose(page, 'almanac');
      await page.getByTestId('suggestion').first().click();
      await ended(page);
      await page.getByTestId('citation').first().click();
      await page.locator('[data-testid=knowledge-part][data-place=true]').waitFor();
    },
  },
  {
    name: 'inspector',
    dark: true,
    async go(page) {
      await send(page, 'How many days are between 2026-03-01 and 2026-10-15?');
      await ended(page);
      await page.getByTestId('inspect').click();
      await page.getByTestId('span-row').nth(3).click();
      await page.getByTestId('span-details').waitFor();
    },
  },
];
