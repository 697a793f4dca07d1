import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { type Browser, chromium as browserType } from 'playwright';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type NewApps, packApps } from '../../tools/apps/new-apps.ts';
import { chromium } from '../../tools/browsers/chromium.ts';

const vite = join(import.meta.dirname, '../../../node_modules/vite/bin/vite.js');
let apps: NewApps;
let browser: Browser;

beforeAll(async () => {
  [apps, browser] = await Promise.all([packApps(), browserType.launch(chromium)]);
});
afterAll(async () => {
  await browser.close();
  await apps.close();
});

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
    const app = await apps.create(template);
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
