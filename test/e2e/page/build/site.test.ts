import type { Page } from 'playwright';
import { describe, expect, inject, it } from 'vitest';
import { violations } from '../../../tools/browsers/axe.ts';
import { usePlayground } from '../../../tools/browsers/playground.ts';

const { newContext, open, shoot } = usePlayground();
const url = (path: string): string => new URL(`docs/${path}`, inject('playground')).href;

/** Opens a page of the documentation, and notes what it complains about. */
async function read(path: string, { dark = false, width = 1280 } = {}): Promise<{ page: Page; problems: string[] }> {
  const page = await (await newContext({ dark, width })).newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => request.url().startsWith(inject('playground')) || problems.push(request.url()));
  await page.goto(url(path));
  return { page, problems };
}

describe('the documentation beside the playground', () => {
  it.each(['about', 'tools', 'api', 'api/pinnace-tree', 'files/demo/examples', 'screens'])(
    'passes axe on %s in both themes, keeps to its policy, sends no requests elsewhere and fits a phone',
    async (name) => {
      for (const dark of [false, true]) {
        const { page, problems } = await read(`${name}.html`, { dark });
        expect(await violations(page)).toEqual([]);
        expect(problems).toEqual([]);
        await shoot(page, `docs-${name.replaceAll('/', '-')}-${dark ? 'dark' : 'light'}`);
        await page.setViewportSize({ width: 360, height: 740 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
        await page.context().close();
      }
    },
  );

  it('is opened from the playground beside the page, in its colours, and leads back', async () => {
    const { page } = await open();
    await page.getByTestId('open-settings').click();
    await page.getByTestId('theme-dark').click();
    const [guides] = await Promise.all([page.waitForEvent('popup'), page.getByTestId('open-guides').click()]);
    await guides.getByRole('heading', { level: 1, name: 'Guides' }).waitFor();
    expect(await guides.locator('html').getAttribute('data-theme')).toBe('dark');
    await guides.getByRole('navigation').getByRole('link', { name: 'Approvals' }).click();
    await guides.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
    await guides.getByRole('banner').getByRole('link', { name: 'Playground' }).click();
    await guides.getByTestId('composer').waitFor();
    await page.context().close();
  });

  it('is searched by words and slips from every page, by the keyboard', async () => {
    const { page, problems } = await read('tools.html');
    await page.getByRole('searchbox', { name: 'Search the guides' }).fill('idempotncy key');
    const first = page.getByRole('list', { name: 'Found' }).getByRole('link').first();
    await first.locator('mark').first().waitFor();
    expect(await violations(page)).toEqual([]);
    const name = await first.evaluate((link) => link.firstChild?.textContent ?? '');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: name.split(' › ').at(-1) ?? '' }).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('is found in the palette by what a person would call it', async () => {
    const { page } = await open();
    await page.keyboard.press('Control+k');
    await page.getByTestId('switcher-query').fill('documentation approvals');
    const [guide] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('Enter')]);
    expect(new URL(guide.url()).pathname).toBe('/docs/approvals.html');
    await page.context().close();
  });
});
