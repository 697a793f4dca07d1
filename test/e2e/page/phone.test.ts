import type { Locator, Page } from 'playwright';
import { afterAll, describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';
import { screenServers } from '../../tools/servers/screen-servers.ts';
import { walks } from '../../tools/screens/table.ts';
import { ended } from '../../tools/screens/ways.ts';

const { open } = usePlayground();
const servers = screenServers();
const phone = { width: 360, height: 740 };

afterAll(() => servers.close());

/** Goes to the screen of this name, by those before it, in a window, and turns it into a phone. */
async function goTo(name: string): Promise<Page> {
  const { page } = await open();
  const walk = walks().find((each) => each.some((screen) => screen.name === name)) ?? [];
  for (const screen of walk.slice(0, walk.findIndex((each) => each.name === name) + 1)) {
    await screen.go(page, { playground: '', endpoint: '', servers }); // these ways need neither address
  }
  await page.setViewportSize(phone);
  return page;
}

const isCut = (element: Locator) => element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
const boxOf = async (element: Locator) => (await element.boundingBox()) ?? { x: NaN, y: NaN, width: NaN, height: NaN };

describe('a phone', () => {
  it('shows the agent’s name whole beside the model', async () => {
    const { page } = await open(phone);
    for (const agent of ['navigator', 'quartermaster']) {
      await page.locator(`[data-testid=agent-card][data-agent=${agent}]`).click();
      await send(page, 'Hello');
      await ended(page);
      expect(await isCut(page.locator('.top-agent'))).toBe(false);
      expect(await isCut(page.locator('.badge-first'))).toBe(false);
      await page.getByTestId('open-drawer').click();
      await page.getByTestId('new-chat').click();
    }
  });

  it('gives what a key does most of the line', async () => {
    const page = await goTo('keys');
    const widths = await page.getByTestId('key').evaluateAll((rows) =>
      rows.map((row) => (row.querySelector('dd')?.clientWidth ?? 0) / row.clientWidth)
    );
    expect(Math.min(...widths)).toBeGreaterThan(0.5);
    await page.keyboard.press('Escape');
    await page.getByTestId('keys').waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    expect(await page.getByTestId('keys').evaluate(({ scrollTop }) => scrollTop)).toBe(0); // it starts with its title
  });

  it('has the two answers to a question, and the two buttons of the vault, in one line', async () => {
    for (
      const [screen, ...buttons] of [
        ['record-removal', 'removal-confirm', 'removal-keep'],
        ['vault-open', 'vault-set', 'vault-lock'],
      ] as const
    ) {
      const page = await goTo(screen);
      const [first, second] = await Promise.all(buttons.map((button) => boxOf(page.getByTestId(button))));
      expect(second?.y).toBe(first?.y);
      await page.context().close();
    }
  });

  it('has no empty line below the tree', async () => {
    const page = await goTo('tree');
    const [foot, undo] = [await boxOf(page.locator('.tree-foot')), await boxOf(page.getByTestId('tree-undo'))];
    expect(undo.y - foot.y).toBeLessThan(20);
  });
});
