import { spawnSync } from 'node:child_process';
import process from 'node:process';
import * as v from 'valibot';
import { expect, it } from 'vitest';
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
import { describeProcessSandbox } from '../fixtures/sandbox/process-sandbox.ts';
import { outcomeOf, terms } from '../fixtures/sandbox/sandbox.ts';

await describeProcessSandbox(nodeSandbox);

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
