/** The tutorial, run as its two pages say with the packed package, in Chromium as well. Part of the smoke test of the package. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { chromium as browserType } from 'playwright';
import { chromium } from './browsers/chromium.ts';
import { postgresPrograms, startPostgres } from './servers/postgres-server.ts';

const root = join(import.meta.dirname, '../..');

const signedIn = { cookie: 'shop-session=ada', 'sec-fetch-site': 'same-origin' };

/** Asks the server of the tutorial at this port as a signed-in person. */
async function ask(port: number, text: string, { id = 'c1', cookie = signedIn.cookie } = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}/agents/v1/agents/helper/chat`, {
    method: 'POST',
    headers: { ...signedIn, cookie, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
    }),
  });
}

/** Starts a file of the tutorial. The server answers at the port when this resolves. */
async function startFile(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const { PATH } = process.env;
  const started = spawn('node', [name], {
    cwd: folder,
    env: { PATH, PINNACE_SECRET_STOCK_KEY: 'stock-key-1234', ...env },
    stdio: 'inherit',
  });
  for (let tries = 0; env['PORT'] !== undefined && tries < 200; tries++) {
    if (await fetch(`http://127.0.0.1:${env['PORT']}/agents/v1/healthz`).then(({ ok }) => ok, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return started;
}

/** Runs the files of the tutorial as it says, and asks what it says. @throws where an answer is another one. */
export async function checkTutorial(folder: string, ports: readonly [number, number]): Promise<void> {
  for (const page of ['tutorial.md', 'tutorial-page.md']) {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    for (const [, name = '', code = ''] of text.matchAll(/```\w+\n(?:\/\/|<!--) ([\w.]+)(?: -->)?\n([\s\S]*?)```/g)) {
      writeFileSync(join(folder, name), code.replace('127.0.0.1:8000', `127.0.0.1:${ports[0]}`));
    }
  }
  const [port] = ports;
  const stock = await startFile('stock.ts', folder, {});
  const server = await startFile('server.ts', folder, { PORT: String(port) }); // without a database, as its first start
  try {
    const questions: readonly (readonly [text: string, cookie: string | undefined, answer: string])[] = [
      ['/stock_find {"item": "rope"}', undefined, '"left":7'],
      ['/retrieve {"query": "return"}', undefined, '"type":"data-sources"'],
      ['/order_cancel {"order": "o1"}', undefined, '"state":"awaiting_approval"'],
      ['Hello', 'none=1', '"code":"authentication_required"'],
    ];
    for (const [text, cookie, answer] of questions) {
      const stream = await (await ask(port, text, { cookie })).text();
      if (!stream.includes(answer)) throw new Error(`The tutorial answers to ${text}: ${stream}`);
    }
    await checkPage(folder, ports[1]);
    server.kill();
    await once(server, 'exit');
    if (postgresPrograms !== undefined) await checkTwoInstances(folder, ports);
  } finally {
    stock.kill();
    server.kill();
  }
}

/** Kills one of two instances in the middle of an answer, and reads on at the other. */
async function checkTwoInstances(folder: string, ports: readonly [number, number]): Promise<void> {
  const database = await startPostgres();
  const env = {
    DATABASE_URL: 'postgres:///postgres',
    PGHOST: dirname(database.socket),
    PGUSER: 'pinnace',
    NODE_ENV: 'production',
  };
  const [first, second] = await Promise.all(
    ports.map((port) => startFile('server.ts', folder, { ...env, PORT: String(port) })),
  );
  try {
    const answer = (await ask(ports[0], 'Write 300 words about tides', { id: 'c2' })).body!.pipeThrough(
      new TextDecoderStream(),
    );
    let before = '';
    const reader = answer.getReader();
    while (!before.includes('text-delta')) before += (await reader.read()).value ?? '';
    first?.kill('SIGKILL');
    const rest = await fetch(`http://127.0.0.1:${ports[1]}/agents/v1/agents/helper/chat/c2/stream`, {
      headers: signedIn,
    });
    const stream = await rest.text();
    if (!stream.includes('"type":"data-recovery"') || !stream.includes('"state":"completed"')) {
      throw new Error(`The other instance answers ${rest.status}: ${stream.slice(-1000)}`);
    }
  } finally {
    first?.kill('SIGKILL');
    second?.kill('SIGKILL');
    await database.stop();
  }
}

/** Builds the page of the tutorial, serves it at the port, and uses it: a decision is there after a reload. */
async function checkPage(folder: string, port: number): Promise<void> {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const built = spawnSync('node', [vite, 'build'], { cwd: folder, encoding: 'utf8', timeout: 120_000 });
  if (built.status !== 0) throw new Error(`The page of the tutorial is not built:\n${built.stdout}${built.stderr}`);
  const preview = spawn('node', [vite, 'preview', '--port', String(port), '--strictPort', '--host', '127.0.0.1'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const browser = await browserType.launch(chromium);
  try {
    const page = await browser.newPage();
    const text = (wanted: string) => page.getByText(wanted).first().waitFor();
    for (let tries = 0; tries < 100; tries++) {
      if (await page.goto(`http://127.0.0.1:${port}/`).then(() => true, () => false)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const send = async (said: string): Promise<void> => {
      await page.getByLabel('Message').fill(said);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    await send('/retrieve {"query": "return"}');
    await text('[1] Returns');
    await send('/order_cancel {"order": "o1"}');
    await page.getByRole('button', { name: 'Allow' }).click();
    await text('order_cancel: output-available');
    await page.reload();
    await text('order_cancel: output-available');
  } finally {
    await browser.close();
    preview.kill();
  }
}
