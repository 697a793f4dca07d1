import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { chooseEndpoint, type Served, serveWithEndpoint } from '../../tools/servers/endpoint-page.ts';

const playground = usePlayground();
const { shoot } = playground;
let served: Served;

beforeAll(async () => {
  served = await serveWithEndpoint(inject('playgroundFolder'));
});

afterAll(() => served.stop());

async function start(page: Page, agent: string): Promise<void> {
  await page.getByTestId('new-chat').click();
  await page.locator(`[data-testid=agent-card][data-agent=${agent}]`).click();
}

async function askToDelete(page: Page): Promise<void> {
  await start(page, 'logbook');
  await page.getByTestId('suggestion').getByText('overboard').click();
  await page.getByTestId('approve').waitFor();
}

describe('the inbox of the built playground', () => {
  it('decides on three calls of two runs and on a question of a plan, and changes a call', async () => {
    const { page, problems } = await playground.open({ height: 900 });
    await askToDelete(page);
    await start(page, 'logbook');
    await send(page, 'Add a note: "Throw me overboard", then delete note note-7 and delete note note-8');
    await page.getByTestId('approve').nth(1).waitFor();
    await start(page, 'commodore');
    await send(page, 'Calculate 6 * 7; ask me which port we sail for');
    await page.getByTestId('plan-question').waitFor();
    await page.getByTestId('new-chat').click();
    await page.reload(); // the chat of the plan is not read when its question is answered
    await page.getByTestId('open-waiting').click();
    const items = page.getByTestId('inbox-item');
    await expect.poll(() => items.count()).toBe(4);
    expect(await page.getByTestId('open-waiting-count').textContent()).toBe('4');
    expect(await page.title()).toMatch(/^\(4\) /);
    await items.first().locator('> summary').click();
    await items.first().getByTestId('approve').waitFor();
    await shoot(page, 'inbox');
    await items.first().getByTestId('change-call').click();
    await page.getByTestId('change-form').waitFor();
    await shoot(page, 'inbox-change');
    const field = page.getByTestId('change-form').locator('input');
    await field.fill('note-2');
    await page.getByTestId('approve-changed').click();
    await expect.poll(() => items.count()).toBe(3);
    const question = items.filter({ hasText: 'An agent asks' });
    await question.locator('> summary').click();
    await question.getByTestId('plan-text').fill('Bergen');
    await page.keyboard.press('Enter');
    for (const left of [2, 1]) {
      await expect.poll(() => items.count()).toBe(left);
      await page.waitForFunction(() => document.activeElement?.parentElement?.matches('.inbox-item'));
      await page.keyboard.press('Enter');
      await page.locator('.inbox-item[open]').getByTestId('deny').waitFor();
      await page.keyboard.press('d');
    }
    await page.getByTestId('inbox-empty').waitFor();
    await shoot(page, 'inbox-empty');
    await page.getByTestId('chat-item').getByText('which port').click();
    await page.locator('[data-testid=plan][data-state=done]').waitFor();
    expect(problems).toEqual([]);
  });

  it.each([['of this page', false], ['of a connected server', true]])(
    'approves all calls of a group %s once each has been opened, and their chats go on',
    async (name, isServed) => {
      const { page, problems } = await playground.open(isServed ? { url: served.playground } : {});
      if (isServed) await chooseEndpoint(page, served.endpoint);
      await askToDelete(page);
      await askToDelete(page);
      await page.getByTestId('open-waiting').click();
      const group = page.getByTestId('inbox-group');
      await group.getByText(isServed ? new URL(served.endpoint).host : 'In this page').waitFor();
      const all = page.getByTestId('approve-group');
      expect(await all.innerText()).toBe('Approve 2');
      for (const item of await page.getByTestId('inbox-item').all()) {
        expect(await all.isDisabled()).toBe(true);
        await item.locator('> summary').click();
        await item.getByTestId('cannot-undo').waitFor();
      }
      await shoot(page, `inbox-all-${name.replaceAll(' ', '-')}`);
      await all.click();
      await page.getByTestId('inbox-empty').waitFor();
      for (const chat of await page.getByTestId('chat-item').all()) {
        await chat.click();
        await page.locator('[data-testid=tool-card][data-tool=notes_delete][data-state=result]').waitFor();
      }
      expect(problems).toEqual([]);
    },
  );

  it('is readable on a phone and in the dark', async () => {
    const { page } = await playground.open({ width: 360, height: 740, dark: true });
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await page.getByTestId('suggestion').getByText('overboard').click();
    await page.getByTestId('approve').waitFor();
    await page.goto(`${page.url().replace(/#.*/, '')}#/waiting`);
    const item = page.getByTestId('inbox-item');
    await item.locator('> summary').click();
    await item.getByTestId('approve').waitFor();
    await shoot(page, 'inbox-phone-dark');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it('tells a person who wants that of what waits while the page is hidden, without what it is about', async () => {
    const context = await playground.newContext();
    await context.addInitScript(() => {
      const shown: unknown[] = [];
      const state = { permission: 'default', shown };
      Object.assign(globalThis, { state });
      class Notice extends EventTarget {
        static get permission() {
          return state.permission;
        }
        static requestPermission() {
          return Promise.resolve(state.permission = 'granted');
        }
        constructor(title: string, options: object) {
          super();
          shown.push({ title, ...options });
        }
      }
      Object.assign(globalThis, { Notification: Notice });
      Object.defineProperty(document, 'hidden', { get: () => location.hash !== '#/waiting' });
    });
    const { page, problems } = await playground.open({ context });
    const shown = () => page.evaluate(() => (globalThis as unknown as { state: { shown: object[] } }).state.shown);
    await askToDelete(page);
    await page.getByTestId('open-waiting').click();
    await page.getByTestId('inbox-item').waitFor();
    expect(await shown()).toEqual([]); // nobody wants to be told
    await shoot(page, 'inbox-tell');
    await page.getByTestId('tell-me').click();
    await page.getByTestId('told').waitFor();
    await askToDelete(page);
    await expect.poll(shown).toMatchObject([{ title: 'Waiting for you', body: 'Delete a note' }]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
