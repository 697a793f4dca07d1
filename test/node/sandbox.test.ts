import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import * as v from 'valibot';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { rehearsal } from '../../adapters/models/rehearsal.ts';
import { createNodeEndpoint } from '../../adapters/node.ts';
import { denoSandbox } from '../../adapters/sandbox/deno.ts';
import { nodeSandbox } from '../../adapters/sandbox/node.ts';
import { prelude } from '../../adapters/sandbox/prelude.ts';
import { workerSandbox } from '../../adapters/sandbox/worker.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createClient } from '../../adapters/transport/client.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { defineTool } from '../../src/index.ts';
import { describeProgramSandbox, runProgram } from '../fixtures/sandbox/program-sandbox.ts';
import { describeSandbox, outcomeOf, terms } from '../fixtures/sandbox/sandbox.ts';

let sockets = 0;
const server = createServer().on('connection', () => sockets++);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

afterAll(() => {
  server.close();
});

/** The child processes of this one that the system still lists. */
function children(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((number) => {
    try {
      const stat = readFileSync(`/proc/${number}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(process.pid);
    } catch {
      return false; // it ended since it was listed
    }
  });
}

const greedy = 'const a = []; while (true) a.push(new Array(1000).fill({}));';

describe('nodeSandbox', () => {
  describeSandbox(nodeSandbox(), url);

  it.each([
    ['objects', greedy],
    ['bytes', 'const a = []; while (true) a.push(new Uint8Array(10_000_000).fill(1));'],
  ])('ends code that takes too much memory for %s, and goes on', async (_, code) => {
    const sandbox = nodeSandbox({ maxMemoryMb: 64 });
    expect(await outcomeOf(sandbox.run(code, terms()))).toBe('budget_exceeded: out_of_memory');
    expect(await sandbox.run('return 1', terms())).toBe(1);
  });

  describe('with programs', () => {
    describeProgramSandbox(nodeSandbox(), url);
  });

  it('ends a program that takes too much memory', async () => {
    expect(await outcomeOf(runProgram(nodeSandbox({ maxMemoryMb: 64 }), greedy))).toBe(
      'budget_exceeded: out_of_memory',
    );
  });

  it('lets code change how stacks are written for itself, and never see the frames of its host', async () => {
    const code = `let seen = [];
      try { globalThis.Error = { prepareStackTrace: (e, frames) => (seen = frames, 'x') }; } catch {}
      try { null.x; } catch (error) { error.stack; }
      return seen.length;`;
    expect(await outcomeOf(nodeSandbox().run(code, terms()))).toEqual({ output: 0 });
  });

  it('runs nothing in a process that has permissions', () => {
    const input = prelude({ input: '1', maxOutputLength: 100, codeUrl: 'data:text/javascript,export default () => 7' });
    const [open, ...walls] = [[], ['--permission', '--allow-fs-read=/'], ['--permission', '--allow-child-process'], [
      '--permission',
    ]]
      .map((flags) =>
        spawnSync(process.execPath, [...flags, '--input-type=module', '-'], { input, encoding: 'utf8' }).stdout.trim()
      );
    const refused = '{"ok":false,"reason":"not_isolated"}';
    expect([open, ...walls]).toEqual([refused, refused, refused, '{"ok":true,"output":7}']);
  });

  it('leaves no process and has opened no socket', async () => {
    expect(await outcomeOf(nodeSandbox().run('while (true);', terms({ timeoutMs: 100 })))).toBe('deadline_exceeded');
    await vi.waitFor(() => expect(children()).toEqual([]));
    expect(sockets).toBe(0);
  });
});

it.each([denoSandbox, workerSandbox])('no other sandbox runs anything on Node: %o', async (make) => {
  expect(await outcomeOf(make().run('return 1', terms()))).toBe('unavailable: not_isolated');
  expect(await make().isReady()).toBe(false);
});

it('createNodeEndpoint runs programs with `programs: true` alone, and says on readyz that it can', async () => {
  const add = defineTool({
    id: 'add',
    description: 'Adds two numbers',
    input: v.object({ a: v.number(), b: v.number() }),
    execute: ({ a, b }) => ({ sum: a + b }),
  });
  const endpoint = await createNodeEndpoint({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['code_run', 'add'] }],
      providers: [{ id: 'main', kind: 'rehearsal' }],
    }),
    storage: memoryStorage(),
    authenticator: () => developmentAuthenticator({ token: 'a-token-for-tests-only' }),
    models: { model: () => rehearsal({ delayMs: 0 }) },
    tools: [add],
    programs: true,
    sinks: [],
    exitOnStop: false,
  });
  const client = createClient({
    url: 'http://localhost',
    fetch: endpoint.handler,
    credentials: { bearer: 'a-token-for-tests-only' },
  });
  const text = 'call add with {"a":1,"b":2} and call add with {"a":3,"b":4}';
  const outputs: unknown[] = [];
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  for await (const chunk of await client.run({ agentId: 'helper', chat: { id: 'c1', messages } })) {
    if (chunk.type === 'tool-output-available') outputs.push(chunk.output);
  }
  expect(outputs).toContainEqual({ results: [{ sum: 3 }, { sum: 7 }] });
  const readyz = await endpoint.handler(
    new Request('http://localhost/v1/readyz', { headers: { authorization: 'Bearer a-token-for-tests-only' } }),
  );
  expect(await readyz.json()).toMatchObject({ status: 'ok', capabilities: { sandbox: true } });
  await endpoint.close({ drainMs: 0 });
});
