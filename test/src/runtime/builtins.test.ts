import { describe, expect, it } from 'vitest';
import { localPrincipal } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();

function outputOf(chunks: readonly object[]): unknown {
  return chunks.find((chunk) => 'output' in chunk);
}

describe('a runtime to which no tools are given', () => {
  it('has the built-in tools that an agent names', async () => {
    const model = scriptedModel(
      callsTools({ tool: 'calculator', input: { expression: '6 * 7' } }, { tool: 'current_time', input: {} }),
      says('Done'),
    );
    const agent = { entryTools: ['current_time', 'calculator'] };
    const runtime = testRuntime({ ...model, agent, now: () => Date.UTC(2026, 0, 2) });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(model.calls[0]?.tools?.map(({ name }) => name).toSorted()).toEqual(['calculator', 'current_time']);
    expect(JSON.stringify(chunks)).toContain('2026-01-02T00:00:00.000Z');
    expect(outputOf(chunks)).toMatchObject({ output: expect.objectContaining({ value: 42 }) });
  });

  it('are not offered to an agent that does not name them, not even by "*"', async () => {
    const { tools } = await testRuntime({ ...scriptedModel(), agent: { entryTools: ['*'] } }).manifest('helper', me);
    expect(tools).toEqual([]);
  });

  it('says of each other built-in tool why it is left out', async () => {
    const agent = { entryTools: ['fetch_url', 'remember', 'create', 'ask_human'] };
    const { tools } = await testRuntime({ ...scriptedModel(), agent }).manifest('helper', me);
    expect(Object.fromEntries(tools.map(({ id, excluded }) => [id, excluded]))).toEqual({
      fetch_url: 'no_implementation',
      remember: 'no_implementation',
      create: 'only_in_plans',
      ask_human: 'only_in_plans',
    });
  });
});
