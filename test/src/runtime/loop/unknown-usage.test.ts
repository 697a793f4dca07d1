import type { LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, localPrincipal } from '../../../../src/index.ts';
import { callsTools, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime } from '../../../fixtures/runtime.ts';

const look = defineTool({ id: 'look', description: 'Looks', input: v.looseObject({}), execute: () => 'nothing' });

/** What a provider sends that counts no tokens. */
const unknown = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function withUnknownUsage(script: readonly Part[]): Part[] {
  return script.map((part) => part.type === 'finish' ? { ...part, usage: unknown } : part);
}

describe('a model whose provider counts no tokens', () => {
  it('still uses up the budget of its run: the tokens are estimated, and said to be', async () => {
    const script = withUnknownUsage(callsTools({ tool: 'look', input: {} }));
    const model = scriptedModel(script);
    const runtime = testRuntime({ ...model, tools: [look], limits: { steps: 100 } });
    const chunks = await readAll(await runtime.run(runRequest({ budget: { tokens: 500 } }), localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'stopped', error: { code: 'budget_exceeded' } });
    expect(terminalChunks(chunks)).toHaveLength(1);
    expect(model.calls.length).toBeLessThan(20);
    const usage = lastData(chunks, 'data-usage');
    expect(usage).toMatchObject({ estimated: true });
    expect(Number(usage['totalTokens'])).toBeGreaterThan(0);
  });
});
