import { join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContext, chromium as browserType, type Page } from 'playwright';
import { build, preview, type PreviewServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromium } from '../tools/chromium.ts';

const root = join(import.meta.dirname, '../..');
let server: PreviewServer;
let browser: Browser;

beforeAll(async () => {
  await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' });
  server = await preview({ configFile: join(root, 'vite.config.ts'), preview: { port: 0 } });
  browser = await browserType.launch(chromium);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Opens the playground, with the tree beside the chat. */
async function open(browsing: BrowserContext): Promise<{ page: Page; problems: string[] }> {
  const page = await browsing.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  await page.getByTestId('open-tree').click();
  await row(page, 'Northquay Yard').waitFor();
  return { page, problems };
}

function newContext(options: { width?: number; height?: number; dark?: boolean } = {}): Promise<BrowserContext> {
  const { width = 1280, height = 800, dark = false } = options;
  return browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
}

const row = (page: Page, name: string) => page.getByRole('treeitem', { name }).first();

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByTestId('composer').fill(text);
  await page.keyboard.press('Enter');
}

/** Keeps pictures when a folder for them is named. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS'];
  if (folder) await page.screenshot({ path: join(folder, `tree-${name}.png`) });
}

describe('the tree beside the chat', () => {
  it('is walked and opened by the keyboard, as a screen reader hears it', async () => {
    const { page, problems } = await open(await newContext());
    await page.getByTestId('tree-list').focus();
    const active = page.locator('[role=treeitem][aria-selected=true]');
    await active.and(row(page, 'Northquay Yard')).waitFor();
    await press(page, 'ArrowDown');
    await active.and(row(page, 'Hull and structure')).waitFor();
    await press(page, 'ArrowRight');
    await page.locator('[role=treeitem][aria-level="3"][aria-posinset="1"][aria-setsize="8"]').waitFor();
    await press(page, 'End');
    await active.and(row(page, 'Customers')).waitFor();
    expect(await page.getByRole('tree').getAttribute('aria-activedescendant')).toBe(await active.getAttribute('id'));
    expect(problems).toEqual([]);
  });

  it('shows what the agent does as it does it, and takes it back', async () => {
    const { page, problems } = await open(await newContext());
    await page.locator('[data-testid=agent-card][data-agent=bosun]').click();
    await say(page, 'Add a task "Order new anchor chain" to "Rigging and sails"');
    const added = row(page, 'Order new anchor chain');
    await added.waitFor();
    expect(await added.getAttribute('data-mark')).toBe('other');
    expect(await added.textContent()).toContain('Bosun');
    await shoot(page, 'agent');
    await page.getByTestId('answer-footer').waitFor();
    await page.getByTestId('tree-undo').click();
    await added.waitFor({ state: 'detached' });
    await say(page, 'Rename "Purchasing" to "Purchasing and stores"');
    await row(page, 'Purchasing and stores').waitFor();
    await page.getByTestId('answer-footer').nth(1).waitFor();
    await say(page, 'Undo');
    await row(page, 'Purchasing and stores').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('keeps what was changed by hand over a reload, and shows it in another tab at once', async () => {
    const shared = await newContext();
    const [{ page }, { page: other }] = [await open(shared), await open(shared)];
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
    await page.getByTestId('open-tree').click();
    await row(page, 'Engines').waitFor();
    expect(await row(page, 'Safety').count()).toBe(0);
  });

  it('makes a million nodes in the worker while the page goes on, and scrolls to the last', async () => {
    const { page, problems } = await open(await newContext());
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
    await shoot(page, 'million');
    await page.getByTestId('tree-search').fill('propeller');
    await page.getByTestId('tree-found').first().waitFor();
    await page.getByTestId('tree-million').click();
    await row(page, 'Northquay Yard').waitFor();
    expect(problems).toEqual([]);
  });

  it('covers the chat on a phone, in the dark, without a sideways scroll', async () => {
    const { page, problems } = await open(await newContext({ width: 360, height: 740, dark: true }));
    await row(page, 'Navigation').click();
    await page.getByTestId('tree-add').click();
    await page.getByTestId('tree-field').fill('Survey of Heron');
    await press(page, 'Enter');
    await row(page, 'Survey of Heron').waitFor();
    await shoot(page, 'phone');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await page.locator('main').getAttribute('inert')).not.toBeNull();
    await press(page, 'Escape');
    await page.getByTestId('tree-panel').waitFor({ state: 'detached' });
    await page.locator('[data-testid=open-tree]:focus').waitFor();
    await page.getByTestId('composer').waitFor();
    expect(problems).toEqual([]);
  });
});
