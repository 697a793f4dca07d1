/** New apps of `npm create pinnace` as their users run them: in a browser, in development, and deployed. They are packed once. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { type Browser, chromium as browserType, type Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AppServer, startApp } from '../../tools/apps/app-server.ts';
import { type NewApps, packApps, runIn } from '../../tools/apps/new-apps.ts';
import { chromium } from '../../tools/browsers/chromium.ts';
import { startFileServer } from '../../tools/servers/file-server.ts';
import { freePort } from '../../tools/servers/http-server.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';
import { snippetsIn } from '../../tools/snippets.ts';

const vite = join(import.meta.dirname, '../../../node_modules/vite/bin/vite.js');
let apps: NewApps;
let browser: Browser;
const endpoints: AppServer[] = [];

beforeAll(async () => {
  [apps, browser] = await Promise.all([packApps(), browserType.launch(chromium)]);
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

    it('goes on with an answer while another chat is read, and deletes a chat', async () => {
      const { page, problems } = await open();
      await send(page, 'Write 60 words about tides');
      await answer(page).getByText(/(?:\w+\W+){4}/).first().waitFor();
      await page.getByRole('button', { name: 'New chat' }).click();
      await send(page, 'What is the weather in Oslo?');
      await call(page, 'output-available').getByText('"degrees": 14').waitFor();
      await page.getByRole('button', { name: 'Write 60 words about tides', exact: true }).click();
      await expect.poll(async () => (await answer(page).textContent())?.trim().split(/\s+/).length).toBe(60);
      await page.reload();
      const titles = page.getByRole('navigation', { name: 'Chats' }).locator('[aria-current]');
      expect(await titles.allTextContents()).toEqual(['What is the weather in Oslo?', 'Write 60 words about tides']);
      await page.getByRole('button', { name: 'Delete What is the weather in Oslo?' }).click();
      await page.getByRole('button', { name: 'Write 60 words about tides', exact: true }).click();
      await expect.poll(async () => (await answer(page).textContent())?.trim().split(/\s+/).length).toBe(60);
      expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('chat:')).length)).toBe(
        1,
      );
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

/** The development server of an app, at a free port. */
async function develop(app: string): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const args = [vite, '--host', '127.0.0.1', '--port', '0'];
  const server = spawn(process.execPath, args, { cwd: app, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'close');
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(stripVTControlCharacters(output)) ?? [];
      if (url !== undefined) resolve(url);
    });
  }
  void ended.then(() => reject(new Error(`The server did not start:\n${output}`)));
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await ended;
  };
  return { url: await promise, stop };
}

it.each(inject('isLong') ? ['react', 'page'] : ['react'])(
  'a new app in development answers its first message without a reload, and runs what was changed: %s',
  async (template) => {
    const app = await apps.create(template, `${template}-in-development`);
    const { url, stop } = await develop(app);
    try {
      const page = await browser.newPage();
      let loads = 0;
      page.on('load', () => loads++);
      await page.goto(url);
      const ask = async (degrees: number): Promise<void> => {
        await page.getByRole('textbox', { name: 'Message' }).fill('What is the weather in Oslo?');
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.locator('.call[data-state=output-available]').getByText(`"degrees": ${degrees}`).waitFor();
        await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
      };
      await ask(14);
      expect(loads).toBe(1);
      const agent = join(app, 'src/agent.ts');
      const reloaded = page.waitForEvent('load');
      await writeFile(agent, (await readFile(agent, 'utf8')).replace('10 + city.length', '70 + city.length'));
      await reloaded;
      await ask(74);
    } finally {
      await stop();
    }
  },
);

/** The page of the guide, over the agent of the template "react", in place of the template's page. */
async function buildPage(): Promise<string> {
  const app = await apps.create('react', 'docs-page');
  const source = (name: string): string => join(app, 'src', name);
  const page = (await snippetsIn('tsx')).find(({ code }) => code.startsWith('// chat-page.tsx'))?.code ?? '';
  const overWorker = page.replace(/^const transport = .*$/m, "import { transport } from './transport.ts';")
    .replace('createClient, ', '');
  const main = await readFile(source('main.tsx'), 'utf8');
  await writeFile(source('chat-page.tsx'), overWorker);
  await writeFile(
    source('main.tsx'),
    main.replace("{ App } from './app.tsx'", "{ ChatPage as App } from './chat-page.tsx'"),
  );
  const { code, output } = await runIn(app, ['npm', 'run', 'build']);
  if (code !== 0) throw new Error(`The page does not build:\n${output}`);
  return join(app, 'dist');
}

describe('the page of the guide to messages in React', () => {
  let server: FileServer;
  beforeAll(async () => {
    server = await startFileServer(await buildPage());
  });
  afterAll(() => server?.close());

  it('chats, asks, stops, and joins its run after a reload', async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(20_000);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const send = async (text: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await button('Send').click();
    };
    await page.goto(server.url);
    await send('What is the weather in Oslo?');
    await page.getByText('weather: output-available').waitFor();
    await button('Send').waitFor();
    await send('Send mail to ada@ship.example');
    await page.getByText('"to": "ada@ship.example"').waitFor();
    await button('Allow').click();
    await page.getByText('send_mail: output-available').waitFor();
    await button('Send').waitFor();
    await send('Send mail to bob@ship.example');
    await button('Deny').click();
    await page.getByText('send_mail: output-denied').waitFor();
    await button('Send').waitFor();
    await send('Write 900 words about tides');
    await page.getByText('Its topic is tides').waitFor();
    await button('Stop').click();
    await button('Send').waitFor();
    await send('Write 60 words about winds');
    await page.getByText('Its topic is winds').waitFor();
    await page.reload();
    await button('Stop').waitFor();
    await button('Send').waitFor();
    const answer = await page.getByText('Its topic is winds').textContent();
    expect(answer?.trim().split(/\s+/)).toHaveLength(60);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

const deployPage = 'docs/deploy-node.md';
const deployCommands = (await snippetsIn('sh')).filter((snippet) => snippet.page === deployPage).map(({ code }) =>
  code
);
const [deployedEndpoint] = (await snippetsIn('ts')).filter((snippet) => snippet.page === deployPage);

describe.skipIf(postgresPrograms === undefined)('the first deployment on Node', () => {
  let database: PostgresServer;
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    database = await startPostgres();
  });
  afterAll(async () => {
    server?.kill('SIGKILL');
    await database.stop();
  });

  it('starts, answers a signed request and stops, with the commands of its page', async () => {
    const app = await apps.create('node', 'deployed'); // installs what the first command of the page installs
    await writeFile(join(app, 'endpoint.ts'), deployedEndpoint?.code ?? '');
    const port = await freePort();
    const adapted = (code: string): string =>
      code.replaceAll('npx pinnace', 'node node_modules/pinnace/dist/adapters/cli/pinnace.js')
        .replaceAll('localhost:8000', `localhost:${port}`).replace(
          /DATABASE_URL=\S+/,
          'DATABASE_URL=postgres:///postgres',
        )
        .replace('node endpoint.ts', 'exec node endpoint.ts');
    const [, start = '', send = ''] = deployCommands.map(adapted);
    const path = `${join(import.meta.dirname, '../../../node_modules/.bin')}:${process.env['PATH']}`;
    const env = {
      ...process.env,
      PATH: path,
      PORT: String(port),
      AUTHORITIES: `localhost:${port}`,
      PGHOST: dirname(database.socket),
      PGUSER: 'pinnace',
    };
    server = spawn('sh', ['-ec', start], { cwd: app, env, stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(server, 'exit');
    const ready = async (): Promise<number> =>
      await fetch(`http://127.0.0.1:${port}/v1/readyz`).then(({ status }) => status, () => 0);
    await expect.poll(ready).toBe(200);
    const { code, output } = await runIn(app, ['sh', '-ec', send]);
    expect(code, output).toBe(0);
    expect(output).toContain('"output":5');
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('has a health check that a shell can run, and that fails without an endpoint', async () => {
    const text = await readFile(join(import.meta.dirname, '../../..', deployPage), 'utf8');
    const [, array = ''] = /HEALTHCHECK CMD (\[.*\])/.exec(text) ?? [];
    const [, ...args] = JSON.parse(array) as readonly string[];
    const at = (port: number) => args.map((word) => word.replace('8000', String(port)));
    expect(spawnSync(process.execPath, at(await freePort())).status).toBe(1);
  });
});
