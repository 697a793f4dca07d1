import { join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium as browserType, type Page } from 'playwright';
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
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Opens the playground in a context of its own. */
async function open({ width = 1280, dark = false } = {}): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  await page.getByTestId('composer').waitFor();
  return { page, problems };
}

async function openAgent(page: Page, id: string): Promise<void> {
  await page.getByTestId('open-registry').click();
  await page.locator(`[data-testid=registry-row][data-id=${id}]`).click();
  await page.getByTestId('agent-page').waitFor();
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByTestId('composer').fill(text);
  await page.keyboard.press('Enter');
}

/** Keeps pictures when a folder for them is named. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS'];
  if (folder) await page.screenshot({ path: join(folder, `registry-${name}.png`) });
}

describe('the registry in the built playground', () => {
  it('says what is wrong with a change, keeps the right one over a reload', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-registry').click();
    await page.getByTestId('registry-row').first().waitFor();
    await shoot(page, 'list');
    await page.locator('[data-testid=registry-row][data-id=navigator]').click();
    await page.getByTestId('agent-page').waitFor();
    await shoot(page, 'agent');
    await page.getByTestId('agent-edit').click();
    await page.getByTestId('field-instructions').fill('x'.repeat(65_537));
    await page.getByTestId('agent-save').click();
    await page.getByText('Instructions must be at most 65536 long.').waitFor();
    expect(await page.getByTestId('field-instructions').getAttribute('aria-invalid')).toBe('true');
    await page.getByTestId('field-instructions').fill('You are Navigator. Be brief.');
    await page.getByTestId('field-name').fill('Pilot');
    await shoot(page, 'edit');
    await page.getByTestId('agent-save').click();
    await page.getByTestId('agent-page').waitFor();
    await page.reload();
    await page.getByTestId('composer').waitFor();
    await openAgent(page, 'navigator');
    expect(await page.getByTestId('agent-instructions').textContent()).toBe('You are Navigator. Be brief.');
    expect(await page.getByTestId('registry').locator('h1').textContent()).toBe('Pilot');
    await page.getByTestId('agent-history').scrollIntoViewIfNeeded();
    await shoot(page, 'history');
    expect(problems).toEqual([]);
  });

  it('refuses a run of a disabled agent with a clear message, and runs it when it is enabled again', async () => {
    const { page, problems } = await open();
    await openAgent(page, 'navigator');
    await page.getByTestId('registry-switch').click();
    await page.getByTestId('registry-switch').getByText('Enable').waitFor();
    await page.getByTestId('registry-close').click();
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('error-callout').waitFor();
    expect(await page.getByTestId('error-callout').textContent()).toContain('This agent is disabled');
    await shoot(page, 'refused');
    await page.getByTestId('open-registry').click(); // it is as it was: the agent is open
    await page.getByTestId('registry-switch').click();
    await page.getByTestId('registry-switch').getByText('Disable').waitFor();
    await page.getByTestId('registry-close').click();
    await send(page, 'What is 6 * 7?');
    await page.locator('[data-testid=message][data-role=assistant]').last().getByText('42').first().waitFor();
    expect(problems).toEqual([]);
  });

  it('stops the run under way of an agent that is disabled', async () => {
    const { page } = await open();
    await send(page, 'Write a long answer about tides');
    await page.getByTestId('stop').waitFor();
    await openAgent(page, 'navigator');
    await page.getByTestId('registry-switch').click();
    await page.getByTestId('registry-close').click();
    await page.getByTestId('error-callout').waitFor();
    expect(await page.getByTestId('error-callout').textContent()).toContain('This agent is disabled');
  });

  it('fits a narrow screen in the dark', async () => {
    const { page } = await open({ width: 360, dark: true });
    await page.keyboard.press('Control+k');
    await page.getByTestId('switcher-query').fill('registry');
    await page.keyboard.press('Enter');
    await page.getByTestId('registry-row').first().waitFor();
    await shoot(page, 'narrow-list');
    await page.getByTestId('registry-tab-tool').click();
    await page.getByTestId('registry-text').fill('convert_units');
    await page.getByTestId('registry-count').getByText('1 tool').waitFor();
    await page.getByTestId('registry-row').click();
    await page.getByTestId('tool-params').waitFor();
    await shoot(page, 'narrow-tool');
    await page.keyboard.press('Escape');
    await page.getByTestId('registry-tab-agent').click();
    await page.locator('[data-testid=registry-row][data-id=purser]').click();
    await page.getByTestId('agent-edit').click();
    await shoot(page, 'narrow-edit');
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
  });
});
