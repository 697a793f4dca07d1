import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { type Browser, chromium as browserType } from 'playwright';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromium } from '../../tools/browsers/chromium.ts';
import { postgresPrograms, type PostgresServer, startPostgres } from '../../tools/servers/postgres-server.ts';
import { closeServer, listen } from '../../tools/servers/http-server.ts';

const root = join(import.meta.dirname, '../../..');
const children: ChildProcess[] = [];

describe.skipIf(postgresPrograms === undefined)(
  'useChat in a page, behind a balancer of Node instances on PostgreSQL',
  () => {
    let database: PostgresServer;
    let browser: Browser;
    let balancer: Server;
    let url: string;
    let instances: Instance[] = [];
    beforeAll(async () => {
      const [script] = await Promise.all([
        bundled(),
        startPostgres().then((started) => (database = started)),
        browserType.launch(chromium).then((launched) => (browser = launched)),
      ]);
      balancer = createServer((incoming, outgoing) => {
        if (incoming.url === '/') {
          outgoing.setHeader('content-type', 'text/html').end(
            '<body><div id=root></div><script src=/page.js></script>',
          );
        } else if (incoming.url === '/page.js') outgoing.setHeader('content-type', 'text/javascript').end(script);
        else forward(incoming, outgoing, instances);
      });
      url = await listen(balancer);
    }, 120_000);
    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all([closeServer(balancer), browser?.close(), database?.stop()]);
    });

    it.each(
      [
        ['the death of its instance', 'SIGKILL'],
        ['a rolling deploy', 'SIGTERM'],
      ] as const,
    )('goes on with the answer in place through %s, and shows no word twice', async (_, signal) => {
      const first = await startInstance(database);
      instances = [first];
      const page = await browser.newPage();
      await page.goto(url);
      page.on('pageerror', (error) => console.error(error));
      await page.getByText('w9 w10').waitFor();
      const second = await startInstance(database);
      instances = [second, first]; // new requests reach the new one
      const ended = first.end(signal);
      await page.locator('main[data-status=ready]').waitFor();
      await ended;
      const words = Array.from({ length: 200 }, (_item, i) => `w${i}`);
      expect((await page.locator('main').textContent())?.trim().split(/\s+/)).toEqual(words);
      const shown = await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
      // In no state that the person saw: each is a beginning of the answer.
      for (const text of shown) expect(words.join(' ')).toContain(text.trim());
      expect(shown.every((text) => text === '' || text.startsWith('w0 '))).toBe(true);
      await page.close();
      await second.end('SIGKILL');
    });
  },
);

interface Instance {
  readonly url: URL;
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
}

async function startInstance({ socket }: PostgresServer): Promise<Instance> {
  const child: ChildProcess = spawn(process.execPath, ['test/fixtures/processes/chat-instance.ts', socket], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(child.stdout!, 'data') as [Buffer];
  return {
    url: new URL(String(line).trim()),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}

/** Passes the request to the first instance that takes it, as a balancer does; a connection that breaks breaks for the page as well. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, [target, ...others]: readonly Instance[]): void {
  if (!target) return void outgoing.writeHead(502).end();
  const { method, headers, url = '/' } = incoming;
  const passed = request(new URL(url, target.url), { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.on('error', () => outgoing.destroy()).pipe(outgoing);
  });
  passed.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else forward(incoming, outgoing, others);
  });
  outgoing.on('close', () => passed.destroy());
  incoming.pipe(passed);
}

async function bundled(): Promise<string> {
  const bundle = await rolldown({
    input: join(root, 'test/fixtures/page/use-chat.ts'),
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await bundle.generate({ format: 'iife', codeSplitting: false });
  return output[0].code;
}
