import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { writeServiceWorker } from '../../../../demo/offline/plugin.ts';
import { startFileServer } from '../../../tools/servers/file-server.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';

const { newContext, open, shoot } = usePlayground();
const first = inject('playgroundFolder');
/** The same page as a later build of it: every file has another name. */
let second: string;

beforeAll(async () => {
  second = await mkdtemp(join(tmpdir(), 'pinnace-next-'));
  await cp(first, second, { recursive: true });
  await renameAssets(second);
  await writeServiceWorker(second);
});
afterAll(() => rm(second, { recursive: true, force: true }));

async function renameAssets(folder: string): Promise<void> {
  const names = (await readdir(join(folder, 'assets'))).filter((name) => /\.(?:js|css)$/.test(name));
  const nameOf = (name: string, at: number): string =>
    name.replace(/-.{8}\.(\w+)$/, `-next${String(at).padStart(4, '0')}.$1`); // two may differ by their hash alone
  const renamed = new Map(names.map((name, at) => [name, nameOf(name, at)]));
  for (const path of ['index.html', ...names.map((name) => `assets/${name}`)]) {
    let text = await readFile(join(folder, path), 'utf8');
    for (const [before, after] of renamed) text = text.replaceAll(before, after);
    await writeFile(join(folder, path), text);
  }
  for (const [before, after] of renamed) await rename(join(folder, 'assets', before), join(folder, 'assets', after));
}

const isKept = (page: Page): Promise<unknown> => page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
const builds = (page: Page): Promise<number> => page.evaluate(async () => (await caches.keys()).length);
const script = (page: Page): Promise<string | null> => page.locator('script[type=module]').getAttribute('src');
const answers = async (page: Page, question: string, answer: string): Promise<void> => {
  await send(page, question);
  await page.locator('[data-testid=message][data-role=assistant]').last().getByText(answer).first().waitFor();
  await page.getByTestId('send').waitFor();
};

describe('the page without a network', () => {
  it('opens after the first visit, from a plain file server under any path, and has a working agent', async () => {
    const server = await startFileServer(first, { path: '/some/where/' });
    const context = await newContext({ offline: true });
    const { page, problems } = await open({ context, url: server.url });
    await isKept(page);
    await page.reload(); // only now it is loaded through the service worker
    await page.getByTestId('composer').waitFor();
    // What is no file of the build goes to the server as before, also what lies below the page.
    const statuses = await page.evaluate(() =>
      Promise.all(['v1/runs', 'assets/none', '../other', './?x=1'].map(async (url) => (await fetch(url)).status))
    );
    expect(statuses).toEqual([404, 404, 404, 200]);
    expect(server.requests).toEqual(expect.arrayContaining(['GET v1/runs', 'GET assets/none']));
    expect(server.requests.filter((path) => path.includes('docs/'))).toEqual([]); // no guide was opened yet
    problems.length = 0; // the console reports these
    const guides = await context.newPage();
    await guides.goto(`${server.url}docs/tools.html`);
    await expect.poll(() => server.requests.includes('GET docs/approvals.html')).toBe(true);
    await expect.poll(() => guides.evaluate(() => caches.match('approvals.html').then(Boolean))).toBe(true);
    await server.close();
    await guides.getByRole('navigation').getByRole('link', { name: 'Approvals' }).click();
    await guides.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
    expect(await guides.evaluate(() => document.styleSheets.length)).toBe(1);
    await guides.close();
    await page.reload();
    await page.getByTestId('composer').waitFor();
    await answers(page, 'What is 6 * 7?', '42');
    await page.locator('[data-testid=tool-card][data-tool=calculator]').waitFor();
    await page.getByTestId('open-agents').click();
    await page.getByTestId('registry-row').first().waitFor();
    await page.getByTestId('agents-back').click();
    await page.getByTestId('open-files').click();
    await page.getByTestId('knowledge-guide').click();
    await page.locator('[data-testid=knowledge-file][data-state=ready]').first().waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is replaced as a whole when a person says so; a page that stays open keeps its own version', async () => {
    const server = await startFileServer(first);
    const context = await newContext({ offline: true });
    const [{ page }, other] = [await open({ context, url: server.url }), await open({ context, url: server.url })];
    await isKept(page);
    server.serve(second);
    await page.evaluate(async () => void await (await navigator.serviceWorker.ready).update());
    await page.getByTestId('version-notice').waitFor();
    await shoot(page, 'new-version');
    expect(await script(page)).not.toContain('next');
    await page.getByTestId('version-reload').click();
    await page.locator('script[src*=next]').waitFor({ state: 'attached' });
    await page.getByTestId('composer').waitFor();
    await answers(page, 'What is 6 * 7?', '42');
    // The other tab is notified, continues with the files that the server no longer has, and updates on request.
    await other.page.getByTestId('version-notice').waitFor();
    expect(await builds(page)).toBe(2);
    await other.page.getByTestId('open-agents').click();
    await other.page.getByTestId('registry-row').first().waitFor();
    await other.page.getByTestId('agents-back').click();
    await other.page.getByTestId('version-reload').click();
    await other.page.locator('script[src*=next]').waitFor({ state: 'attached' });
    await expect.poll(() => builds(page)).toBe(1);
    await server.close();
    await context.close();
  });
});
