import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import { type FakeModel, fakeModel, type ReadRun, readRun } from '../../contracts/index.ts';
import { runRequest } from '../../fixtures/runtime.ts';

const input = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;
const double = defineTool({
  id: 'double',
  description: 'Doubles',
  input,
  annotations: { readOnlyHint: true },
  execute: ({ a }) => 2 * a,
});
const broken = defineTool({
  id: 'broken',
  description: 'Fails',
  input,
  execute: () => {
    throw new Error('secret detail');
  },
});
const risky = defineTool({ id: 'risky', description: 'Acts', input, approval: 'always', execute: () => 'done' });

function run(fake: FakeModel, tools: readonly Tool[] = [double, broken, risky], onError?: (cause: unknown) => void) {
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['*'], instructions: 'Be brief' }],
      providers: [{ id: 'main', kind: 'custom' }],
    }),
    models: fake.source,
    storage: memoryStorage(),
    tools,
    ...(onError && { onError }),
  });
  return async (): Promise<ReadRun> => await readRun(await runtime.run(runRequest(), localPrincipal()));
}

describe('fakeModel', () => {
  it('fails a run that calls it more often than it has answers, and says so to onError', async () => {
    const causes: unknown[] = [];
    const fake = fakeModel({ calls: [{ tool: 'double', input: { a: 1 } }] });
    const { state } = await run(fake, [double], (cause) => void causes.push(cause))();
    expect(state).toBe('failed');
    expect(String(causes[0])).toContain('The fake model has 1 answers and was called 2 times');
  });

  it('fails with the error of a script', async () => {
    const causes: unknown[] = [];
    const error = new Error('overloaded');
    const { state, text } = await run(fakeModel({ text: 'Half', error }), [], (cause) => void causes.push(cause))();
    expect([state, text, causes]).toEqual(['failed', 'Half', [error]]);
  });

  it('stays open until its promise settles', async () => {
    const open = Promise.withResolvers<void>();
    const fake = fakeModel({ text: 'Wait', until: open.promise });
    const { stream } = await fake.model.doStream({ prompt: [] });
    const reader = stream.getReader();
    for (const type of ['stream-start', 'text-start', 'text-delta']) {
      expect((await reader.read()).value).toMatchObject({ type });
    }
    const next = reader.read();
    expect(await Promise.race([next, Promise.resolve('open')])).toBe('open');
    open.resolve();
    expect((await next).value).toMatchObject({ type: 'text-end' });
  });
});
