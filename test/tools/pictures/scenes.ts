/** The screens of the playground as the README shows them. */

import type { Page } from 'playwright';
import { send } from '../playground.ts';

/** A picture: its name, how the window is, and the way to what it shows. */
export interface Scene {
  readonly name: string;
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly go: (page: Page) => Promise<void>;
}

const phone = { width: 360, height: 740 };

/** Begins a chat with one of the agents. */
export async function choose(page: Page, agent: string): Promise<void> {
  await page.locator(`[data-testid=agent-card][data-agent=${agent}]`).click();
}

async function ended(page: Page): Promise<void> {
  await page.getByTestId('answer-footer').last().waitFor();
  await page.getByTestId('send').waitFor();
}

async function asksForApproval(page: Page): Promise<void> {
  await choose(page, 'logbook');
  await page.getByTestId('suggestion').getByText('overboard').click();
  await page.getByTestId('approve').waitFor();
}

async function answers(page: Page): Promise<void> {
  await send(page, 'How many days are between 2026-03-01 and 2026-10-15?');
  await ended(page);
  await page.getByTestId('tool-card').first().locator('.tool-head').click();
}

async function inspects(page: Page): Promise<void> {
  await answers(page);
  await page.getByTestId('inspect').click();
  await page.getByTestId('span-row').nth(3).click();
  await page.getByTestId('span-details').waitFor();
}

/** Every picture. */
export const scenes: readonly Scene[] = [
  { name: 'welcome', go: () => Promise.resolve() },
  { name: 'chat', dark: true, go: answers },
  { name: 'approval', go: asksForApproval },
  {
    name: 'tree',
    async go(page) {
      await page.getByTestId('open-tree').click();
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
      await page.getByTestId('open-knowledge').click();
      await page.getByTestId('knowledge-guide').click();
      await page.locator('[data-testid=knowledge-file][data-state=ready]').nth(5).waitFor();
      await choose(page, 'almanac');
      await page.getByTestId('suggestion').first().click();
      await ended(page);
      await page.getByTestId('citation').first().click();
      await page.locator('[data-testid=knowledge-part][data-place=true]').waitFor();
    },
  },
  {
    name: 'registry',
    async go(page) {
      await page.getByTestId('open-registry').click();
      await page.locator('[data-testid=registry-row][data-id=navigator]').click();
      await page.getByTestId('record-page').waitFor();
    },
  },
  { name: 'inspector', dark: true, go: inspects },
  {
    name: 'settings',
    async go(page) {
      await page.getByTestId('model-badge').click();
      await page.getByTestId('settings-endpoint').check();
      await page.getByTestId('settings-base-url').waitFor();
    },
  },
  {
    name: 'tour',
    async go(page) {
      await page.getByTestId('open-tour').click();
      await page.getByTestId('tour-begin').click();
      await page.getByTestId('tour-how').waitFor();
    },
  },
  { name: 'phone-approval', ...phone, dark: true, go: asksForApproval },
  { name: 'phone-inspector', ...phone, go: inspects },
];
