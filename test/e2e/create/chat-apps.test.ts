import { join } from 'node:path';
import { type Browser, chromium as browserType, type Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AppServer, startApp } from '../../tools/apps/app-server.ts';
import { type NewApps, packApps, runIn } from '../../tools/apps/new-apps.ts';
import { chromium } from '../../tools/browsers/chromium.ts';
import { startFileServer } from '../../tools/servers/file-server.ts';

let apps: NewApps;
let browser: Browser;
const endpoints: AppServer[] = [];

beforeAll(async () => {
  [apps, browser] = await Promise.all([
    packApps(),
    browserType.launch(chromium),
  ]);
});

afterAll(async () => {
  await Promise.all([browser.close(), ...endpoints.map(({ stop }) => stop())]);
  await apps.close();
});

type FileServer = Awaited<ReturnType<typeof startFileServer>>;

/** What the app's page needs to know when it is built. */
type Connect = (origin: string) => Promise<Readonly<Record<string, string>>>;

const toEndpoint = (runtime: 'deno' | 'node'): Connect => async (origin) => {
  const endpoint = await startApp(await apps.create(runtime), {
    runtime,
    origins: origin,
  });
  endpoints.push(endpoint);
  return { VITE_ENDPOINT: endpoint.url, VITE_TOKEN: endpoint.token };
};

const inWorker: Connect = async () => ({});
const ways = [
  { template: 'page', agent: 'in its worker', connect: inWorker },
  { template: 'react', agent: 'in its worker', connect: inWorker },
  {
    template: 'react',
    agent: 'at the endpoint of the template "node"',
    connect: toEndpoint('node'),
  },
  {
    template: 'react',
    agent: 'at the endpoint of the template "deno"',
    connect: toEndpoint('deno'),
  },
] as const;
/** `npm run test:long` drives all of them. */
const driven = inject('isLong') ? ways : ways.slice(1, 2);

describe('a new app of the template "node"', () => {
  it('compiles, starts, and answers its own command', async () => {
    const app = await apps.create('node', 'asked');
    expect(await runIn(app, ['npm', 'run', 'check'])).toMatchObject({ code: 0 });
    const endpoint = await startApp(app, { runtime: 'node' });
    endpoints.push(endpoint);
    const { code, output } = await runIn(app, ['npm', 'run', 'ask'], { ENDPOINT: endpoint.url });
    expect(code, output).toBe(0);
    expect(output).toMatch(/weather[^]*14/);
  });
});

describe.each(driven)(
  'a new app of the template "$template", with its agent $agent',
  ({ template, agent, connect }) => {
    let server: FileServer;
    beforeAll(async () => {
      const app = await apps.create(
        template,
        `${template}-${agent.replaceAll(/\W+/g, '-')}`,
      );
      server = await startFileServer(join(app, 'dist'));
      const env = await connect(server.url.replace(/\/$/, ''));
      const { code, output } = await runIn(app, ['npm', 'run', 'build'], env);
      if (code !== 0) {
        throw new Error(`The app does not build:
${output}`);
      }
    });
    afterAll(() => server.close());

    async function open(): Promise<
      { readonly page: Page; readonly problems: string[] }
    > {
      const context = await browser.newContext();
      context.setDefaultTimeout(10_000);
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on(
        'console',
        (message) => message.type() === 'error' && problems.push(message.text()),
      );
      await page.goto(server.url);
      return { page, problems };
    }

    const answer = (page: Page) => page.locator('[data-role=assistant]').last();
    const call = (page: Page, state: string) => page.locator(`.call[data-state=${state}]`);
    const ready = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    async function send(page: Page, text: string): Promise<void> {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    }

    it('answers with the result of a tool', async () => {
      const { page, problems } = await open();
      await send(page, 'What is the weather in Oslo?');
      await call(page, 'output-available').getByText('"degrees": 14').waitFor();
      await answer(page).getByText('Oslo').last().waitFor();
      expect(problems).toEqual([]);
    });

    it('asks before a call that acts, and makes it when it is allowed', async () => {
      const { page, problems } = await open();
      await send(page, 'Send mail to ada@ship.example');
      await call(page, 'approval-requested').getByText(
        '"to": "ada@ship.example"',
      ).waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await call(page, 'output-available').getByText(
        '"sentTo": "ada@ship.example"',
      ).waitFor();
      await ready(page);
      expect(problems).toEqual([]);
    });

    it('does not make a call that is denied, also after a reload', async () => {
      const { page, problems } = await open();
      await send(page, 'Send mail to ada@ship.example');
      await call(page, 'approval-requested').waitFor();
      await ready(page);
      await page.reload();
      await page.getByRole('button', { name: 'Deny' }).click();
      await call(page, 'output-denied').waitFor();
      await ready(page);
      expect(await page.getByText('sentTo').count()).toBe(0);
      expect(problems).toEqual([]);
    });

    it('stops the run, and stores what it had said', async () => {
      const { page, problems } = await open();
      await send(page, 'Write 900 words about tides');
      await answer(page).getByText(/(?:\w+\W+){12}/).first().waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await ready(page);
      const text = await answer(page).textContent();
      await page.reload();
      await answer(page).getByText(/(?:\w+\W+){12}/).first().waitFor();
      expect(await answer(page).textContent()).toBe(text);
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
      expect(problems).toEqual([]);
    });

    it('joins the run again after a reload, and shows the answer once', async () => {
      const { page, problems } = await open();
      await send(page, 'Write 60 words about tides');
      await answer(page).getByText(/(?:\w+\W+){8}/).first().waitFor();
      await page.reload();
      await ready(page);
      await expect.poll(async () => (await answer(page).textContent())?.trim().split(/\s+/).length).toBe(60);
      await expect.poll(() => page.locator('[data-role]').count()).toBe(2);
      expect(problems).toEqual([]);
    });

    it('reads an attached file, and names it in what it stores', async () => {
      const { page, problems } = await open();
      const buffer = Buffer.from('city,degrees\nOslo,4\n');
      await page.getByLabel('Attach files').setInputFiles({
        name: 'cities.csv',
        mimeType: 'text/csv',
        buffer,
      });
      await send(page, 'Hello');
      await ready(page);
      await page.locator('[data-role=user] .file', { hasText: 'cities.csv' })
        .waitFor();
      await expect.poll(() => page.evaluate(() => JSON.stringify(Object.entries(localStorage)))).toContain(
        'pinnace-blob:',
      );
      expect(await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))).not
        .toContain('base64');
      expect(problems).toEqual([]);
    });

    it('answers as data', async () => {
      const { page, problems } = await open();
      await page.getByLabel('Answer as data').check();
      await send(page, 'Fill city = "Oslo", degrees = 4');
      const output = page.locator('[data-part=output]');
      expect(JSON.parse(await output.textContent() ?? '')).toEqual({
        city: 'Oslo',
        degrees: 4,
      });
      expect(problems).toEqual([]);
    });
  },
);
