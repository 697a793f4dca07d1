import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium as browserType } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NewApps, packApps, runIn } from '../../tools/apps/new-apps.ts';
import { chromium } from '../../tools/browsers/chromium.ts';
import { startFileServer } from '../../tools/servers/file-server.ts';
import { snippetsIn } from '../../tools/snippets.ts';

let apps: NewApps;
let browser: Browser;
let server: Awaited<ReturnType<typeof startFileServer>>;

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

beforeAll(async () => {
  [apps, browser] = await Promise.all([packApps(), browserType.launch(chromium)]);
  server = await startFileServer(await buildPage());
});

afterAll(async () => {
  await Promise.all([server?.close(), browser.close()]);
  await apps.close();
});

describe('the page of the guide to messages in React', () => {
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
