import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const playground = usePlayground();
const { newContext, shoot } = playground;

/** Opens the playground with the tree beside the chat. */
async function open(how: Parameters<typeof playground.open>[0] = {}): ReturnType<typeof playground.open> {
  const opened = await playground.open(how);
  await opened.page.keyboard.press('Alt+t');
  await row(opened.page, 'Northquay Yard').waitFor();
  return opened;
}

const row = (page: Page, name: string) => page.getByRole('treeitem', { name }).first();

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

describe('the tree beside the chat', () => {
  it('shows what the agent does as it does it, and takes it back', async () => {
    const { page, problems } = await open();
    await page.locator('[data-testid=agent-card][data-agent=bosun]').click();
    await send(page, 'Add a task "Order new anchor chain" to "Rigging and sails"');
    const added = row(page, 'Order new anchor chain');
    await added.waitFor();
    expect(await added.getAttribute('data-mark')).toBe('other');
    expect(await added.textContent()).toContain('Shipyard');
    await shoot(page, 'tree-agent');
    await page.getByTestId('answer-footer').waitFor();
    await page.getByTestId('tree-undo').click();
    await added.waitFor({ state: 'detached' });
    await send(page, 'Rename "Purchasing" to "Purchasing and stores"');
    await row(page, 'Purchasing and stores').waitFor();
    await page.getByTestId('answer-footer').nth(1).waitFor();
    await send(page, 'Undo');
    await row(page, 'Purchasing and stores').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('keeps what was changed by hand over a reload, and shows it in another tab at once', async () => {
    const shared = await newContext();
    const [{ page }, { page: other }] = [await open({ context: shared }), await open({ context: shared })];
    await row(page, 'Propulsion').click();
    await press(page, 'F2');
    await page.getByTestId('tree-field').fill('Engines');
    await press(page, 'Enter');
    await row(other, 'Engines').waitFor();
    expect(await other.getByTestId('tree-latest').textContent()).toContain('Another tab');
    await row(other, 'Safety').click();
    await press(other, 'Delete');
    await row(page, 'Safety').waitFor({ state: 'detached' });
    await page.reload();
    await row(page, 'Engines').waitFor();
    expect(await row(page, 'Safety').count()).toBe(0);
  });

  it('makes a million nodes in the worker while the page goes on, and scrolls to the last', async () => {
    const { page, problems } = await open();
    await page.evaluate(() => {
      const count = (): void => {
        document.body.dataset['frames'] = String(Number(document.body.dataset['frames'] ?? 0) + 1);
        requestAnimationFrame(count);
      };
      requestAnimationFrame(count);
    });
    await page.getByTestId('tree-million').click();
    await page.getByTestId('tree-growing').waitFor();
    await row(page, 'The Northquay Group').waitFor();
    const frames = await page.evaluate(() => Number(document.body.dataset['frames']));
    expect(frames).toBeGreaterThan(5); // some are drawn even on a machine that has much else to do
    expect(await page.getByTestId('tree-status').textContent()).toContain('1,056,521 nodes');
    await page.getByTestId('tree-expand-all').click();
    await page.locator('[role=treeitem][aria-level="5"]').first().waitFor();
    await page.getByTestId('tree-list').focus();
    await press(page, 'End');
    await page.locator('[role=treeitem][aria-level="6"][aria-selected=true]').waitFor();
    expect(await page.locator('[role=treeitem]').count()).toBeLessThan(60);
    await shoot(page, 'tree-million');
    await page.getByTestId('tree-search').fill('propeller');
    await page.getByTestId('tree-found').first().waitFor();
    await page.getByTestId('tree-million').click();
    await row(page, 'Northquay Yard').waitFor();
    expect(problems).toEqual([]);
  });

  it('covers the chat on a phone, in the dark, without a sideways scroll', async () => {
    const { page, problems } = await open({ width: 360, height: 740, dark: true });
    await row(page, 'Navigation').click();
    await page.getByTestId('tree-add').click();
    await page.getByTestId('tree-field').fill('Survey of Heron');
    await press(page, 'Enter');
    await row(page, 'Survey of Heron').waitFor();
    await shoot(page, 'tree-phone');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await page.locator('main').getAttribute('inert')).not.toBeNull();
    await press(page, 'Escape');
    await page.getByTestId('tree-panel').waitFor({ state: 'detached' });
    await page.locator('[data-testid=chat-menu]:focus').waitFor();
    await page.getByTestId('composer').waitFor();
    expect(problems).toEqual([]);
  });
});
