import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'vite';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../adapters/transport/client.ts';
import { packageAlias } from '../../../demo/alias.ts';
import { readRun, watchableStorageContract } from '../../contracts/index.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';
import { freePort } from '../../tools/servers/http-server.ts';

const root = join(import.meta.dirname, '../../..');
/** The binary of the npm package `@cloudflare/workerd-<platform>`: 155 MB, and so not a dependency. */
const workerd = process.env['WORKERD_PATH'];
const token = 'a-token-for-tests-only';
let folder: string | undefined;
let server: ChildProcess | undefined;

afterEach(async () => {
  await stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

/** Bundles a Worker to one file, as `wrangler` does, beside a configuration with one class of Durable Objects on disk. */
async function prepare(input: string, { binding, className }: { binding: string; className: string }): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-workerd-'));
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    resolve: { alias: [...packageAlias], conditions: ['workerd', 'worker', 'import'] },
    build: {
      target: 'es2024',
      outDir: folder,
      emptyOutDir: false,
      ssr: true,
      rolldownOptions: { input: join(root, input), output: { entryFileNames: 'worker.js', codeSplitting: false } },
    },
    ssr: { noExternal: true, target: 'webworker' },
  });
  const port = await freePort();
  await mkdir(join(folder, 'objects'));
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = "${folder}/objects", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [
    (name = "${binding}", durableObjectNamespace = "${className}"),
    (name = "TOKEN", text = "${token}"),
  ],
  durableObjectNamespaces = [(className = "${className}", uniqueKey = "key", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`;
  await writeFile(join(folder, 'worker.capnp'), config);
  return `http://127.0.0.1:${port}`;
}

async function start(url: string): Promise<void> {
  server = spawn(workerd ?? '', ['serve', join(folder ?? '', 'worker.capnp')], { stdio: 'ignore' });
  const isListening = () => fetch(`${url}/v1/healthz`).then(() => true, () => false);
  await expect.poll(isListening, { timeout: 30_000 }).toBe(true);
}

async function stop(): Promise<void> {
  if (!server) return;
  const closed = once(server, 'close');
  server.kill('SIGKILL');
  await closed;
  server = undefined;
}

describe.skipIf(workerd === undefined)('in workerd', () => {
  it('durableObjectStorage keeps the contract of a closable storage', async () => {
    const url = await prepare('test/fixtures/workers/contract-worker.ts', {
      binding: 'OBJECTS',
      className: 'Contract',
    });
    await start(url);
    const result: unknown = await (await fetch(`${url}/contract`)).json();
    expect(result).toEqual({ passed: watchableStorageContract.length, failed: {} });
  });

  it('the example of a Worker answers, and finds runs and chats again after its process was killed', async () => {
    const url = await prepare('demo/examples/platforms/cloudflare-worker.ts', {
      binding: 'AGENTS',
      className: 'Agents',
    });
    await start(url);
    const client = createClient({ url, credentials: { bearer: token }, attempts: 1 });
    const chat = { id: 'c1', store: true, messages: [userMessage('Add 2 and 3')] };
    const run = await readRun(await client.run(runRequest({ chat })));
    expect(run).toMatchObject({ state: 'completed', calls: [{ tool: 'add', output: 5 }] });
    await stop();
    await start(url);
    const replay = await client.resume(run.runId);
    expect(replay && await readRun(replay)).toMatchObject({ state: 'completed', text: run.text });
    expect((await client.chats.list({})).items).toMatchObject([{ chatId: 'c1' }]);
  });
});
