import { spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../adapters/transport/client.ts';
import { Agents } from '../../demo/examples/platforms/cloudflare-worker.ts';
import { readRun } from '../contracts/index.ts';
import { runRequest, userMessage } from '../fixtures/runtime.ts';
import { objectDatabase } from '../fixtures/workers/object-database.ts';
import { freePort } from '../tools/servers/http-server.ts';

type Fetch = (request: Request) => Promise<Response>;

const token = 'a-token-for-tests-only';
const folder = join(import.meta.dirname, '../../demo/examples/platforms');
const signals = ['SIGINT', 'SIGTERM'] as const;
const listeners = signals.map((signal) => process.listeners(signal));

beforeAll(() => {
  vi.stubEnv('TOKEN', token);
  vi.stubEnv('DATABASE_URL', undefined);
  vi.spyOn(console, 'log').mockImplementation(() => undefined); // events
});
afterEach(() => void vi.resetModules());
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  Reflect.deleteProperty(globalThis, 'agentsEndpoint');
  for (const [at, signal] of signals.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!listeners[at]?.includes(listener)) process.off(signal, listener);
    }
  }
});

/** Runs the agent of the example, and reads the run again. */
async function expectAnswers(url: string, fetch?: Fetch): Promise<void> {
  const client = createClient({ url, credentials: { bearer: token }, attempts: 1, ...(fetch && { fetch }) });
  const messages = [userMessage('Add 2 and 3')];
  const { runId, state, calls } = await readRun(await client.run(runRequest({ chat: { id: 'c1', messages } })));
  expect({ state, calls }).toMatchObject({ state: 'completed', calls: [{ tool: 'add', output: 5 }] });
  const replay = await client.resume(runId);
  expect(replay && (await readRun(replay)).state).toBe('completed');
  const stranger = createClient({
    url,
    credentials: { bearer: 'another-token' },
    attempts: 1,
    ...(fetch && { fetch }),
  });
  await expect(stranger.status(runId)).rejects.toMatchObject({ code: 'token_invalid' });
}

describe('the example of a platform', () => {
  it('answers as a server of Bun', async () => {
    const { default: server } = await import('../../demo/examples/platforms/bun-server.ts');
    expect(server.idleTimeout).toBeGreaterThan(15);
    await expectAnswers('http://127.0.0.1:8000', server.fetch);
  });

  it('answers as a Worker of Cloudflare, whose requests share one Durable Object', async () => {
    const { default: worker } = await import('../../demo/examples/platforms/cloudflare-worker.ts');
    const objects = new Map<unknown, Agents>();
    const env = {
      TOKEN: token,
      AGENTS: {
        idFromName: (name: string) => name,
        get: (id: unknown) =>
          objects.get(id) ?? objects.set(id, new Agents({ storage: objectDatabase() }, env)).get(id)!,
      },
    };
    await expectAnswers('https://agents.example', (request) => worker.fetch(request, env));
    expect(objects.size).toBe(1);
  });

  it('answers as a route of Next.js, also after the module was loaded again', async () => {
    const first = await import('../../demo/examples/platforms/next-route.ts');
    const { DELETE, GET, POST } = first;
    const routes: Readonly<Record<string, Fetch>> = { DELETE, GET, POST };
    const at = 'http://localhost:3000/api/agents';
    await expectAnswers(at, async (request) => await routes[request.method]!(request));
    const { agentsEndpoint } = globalThis as { agentsEndpoint?: Promise<unknown> };
    vi.resetModules();
    const again = await import('../../demo/examples/platforms/next-route.ts');
    expect(again.GET).not.toBe(first.GET);
    expect((await again.GET(new Request(`${at}/v1/healthz`))).status).toBe(200);
    expect((globalThis as { agentsEndpoint?: unknown }).agentsEndpoint).toBe(agentsEndpoint);
  });

  const bun = process.env['BUN_PATH'] ?? (spawnSync('bun', ['--version']).status === 0 ? 'bun' : undefined);

  it.skipIf(bun === undefined)('answers under Bun itself', async () => {
    const port = await freePort();
    const env = { ...process.env, TOKEN: token, PORT: String(port) };
    const server = spawn(bun!, ['run', '--tsconfig-override', 'tsconfig.json', join(folder, 'bun-server.ts')], { env });
    const url = `http://127.0.0.1:${port}`;
    try {
      await expect.poll(async () => (await fetch(`${url}/v1/healthz`)).status, { timeout: 20_000 }).toBe(200);
      await expectAnswers(url);
    } finally {
      server.kill('SIGKILL');
    }
  });
});

it.each(['bun-server.ts', 'cloudflare-worker.ts', 'next-route.ts'])(
  'stands in the guide as it is tested: %s',
  async (name) => {
    const guide = await readFile(join(folder, '../../../docs/platforms.md'), 'utf8');
    const example = await readFile(join(folder, name), 'utf8');
    expect(guide).toContain(example.slice(example.indexOf('import ')));
  },
);
