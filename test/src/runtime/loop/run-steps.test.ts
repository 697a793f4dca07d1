import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, type Tool } from '../../../../src/index.ts';
import { createRunFiles } from '../../../../src/runtime/run-files.ts';
import type { LoopOptions } from '../../../../src/runtime/loop-options.ts';
import { startLoop } from '../../../../src/runtime/loop.ts';
import { createModelBudget } from '../../../../src/runtime/model-budget.ts';
import { callsTools, scriptedModel } from '../../../fixtures/model.ts';
import type { RunFilesOptions } from '../../../../src/runtime/message-files.ts';

const tools: readonly Tool[] = ['first', 'second'].map((id) =>
  defineTool({ id, description: id, input: v.looseObject({}), execute: () => 'done' })
);

/** A loop whose model calls both tools. */
function loop(needed: (tool: Tool) => Promise<boolean>, reported: unknown[] = []) {
  const { model } = scriptedModel(callsTools({ tool: 'first', input: {} }, { tool: 'second', input: {} }));
  const signal = new AbortController().signal;
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, toolTokens: 0, toolTokensSaved: 0 };
  const spans = { clock: { signal, received: () => undefined }, startStep: () => undefined };
  return startLoop({
    agent: { instructions: '' },
    models: {
      current: { model, endCall: () => undefined, provider: {} },
      fallBack: () => Promise.reject(new Error('No fallback')),
    },
    budget: createModelBudget({}, usage),
    spans,
    signal,
    messages: [],
    tools: { current: () => tools },
    report: (error: unknown) => void reported.push(error),
    allTools: tools,
    contextWindow: { fit: () => [], learn: () => undefined },
    limits: { steps: 1, modelRetries: 0 },
    usage,
    calls: {
      open: (tool: Tool) => ({ tool, prepare: async () => ({ ok: !await needed(tool), approval: {} }) }),
      settle: async ({ tool }: { readonly tool: Tool }) => ({
        chunks: [{ type: 'tool-output-available', toolCallId: tool.definition.id, output: 'done' }],
        outcome: { ok: true, output: 'done' },
      }),
    },
    files: createRunFiles({} as RunFilesOptions), // there are none
  } as unknown as LoopOptions); // what the loop reads of them
}

describe('startLoop', () => {
  it('fails when a call cannot be settled after another one has ended', async () => {
    const settled = Promise.withResolvers<void>();
    const [gone, reported] = [new Error('The storage is gone'), new Array<unknown>()];
    const running = loop(async ({ definition }) => {
      if (definition.id === 'first') return false;
      await settled.promise;
      throw gone;
    }, reported);
    let batch = await running.read();
    while (!('end' in batch)) {
      if (batch.chunks.some(({ type }) => type === 'tool-output-available')) settled.resolve();
      batch = await running.read();
    }
    expect(batch.end).toMatchObject({ type: 'failed', error: { code: 'internal' } });
    expect(reported).toEqual([gone]);
  }, 5_000);
});
