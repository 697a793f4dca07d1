import * as v from 'valibot';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRuntime, defineAgent, defineTool, localPrincipal, readOutput } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest } from '../../../fixtures/runtime.ts';

type Parts = readonly LanguageModelV4StreamPart[];

const output = { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };
const add = defineTool({
  id: 'add',
  description: 'Adds',
  annotations: { readOnlyHint: true },
  input: v.strictObject({ a: v.number() }),
  execute: ({ a }) => a + 1,
});

/** Says a text, and calls a tool in the same step. */
function callsAfter(text: string): Parts {
  return [...says(text).slice(0, -1), ...callsTools({ tool: 'add', input: { a: 1 } }).slice(1)];
}

/** The same call, of a model that ends each answer with `stop`. */
function callsThenStops(): Parts {
  return callsTools({ tool: 'add', input: { a: 1 } }).map((part) =>
    part.type === 'finish' ? { ...part, finishReason: { unified: 'stop', raw: 'stop' } } : part
  );
}

async function run(parts: Parts, { steps, stops = true }: { readonly steps: number; readonly stops?: boolean }) {
  const model = scriptedModel([...parts], says('{"city":"Oslo"}'));
  const record = { id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] };
  const runtime = createRuntime({
    catalog: staticCatalog({ agents: [], providers: [{ id: 'default', kind: 'custom' }] }),
    agents: [defineAgent({ ...record, ...(stops && { stopWhen: () => true }) })],
    models: { model: () => model.model },
    storage: memoryStorage(),
    tools: [add],
    limits: { steps },
  });
  const stream = await runtime.run(runRequest({ output }), localPrincipal());
  const [shown, read] = stream.tee();
  const answer = readOutput(read).catch((error: unknown) => error);
  return { chunks: await readAll(shown), answer: await answer, calls: model.calls.length };
}

describe('a run with a structured answer that is ended by stopWhen', () => {
  it('has the text of the last step as its answer where it fits', async () => {
    const { chunks, answer } = await run(callsAfter('{"city":"Bergen"}'), { steps: 8 });
    expect(answer).toEqual({ city: 'Bergen' });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });

  it.each([['no text', ''], ['a text that does not fit', 'I look it up']])(
    'fails as output_missing with %s, and the model is not called again',
    async (_, text) => {
      const { chunks, answer, calls } = await run(callsAfter(text), { steps: 8 });
      const error = { code: 'unavailable', retryable: false, details: { reason: 'output_missing' } };
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
      expect(chunks.some(({ type }) => type === 'data-output' || type === 'reset-step')).toBe(false);
      expect(answer).toMatchObject(error);
      expect(calls).toBe(1);
    },
  );
});

describe('a run with a structured answer that is ended by its limit of steps', () => {
  it.each([['tool-calls', callsAfter('')], ['stop', callsThenStops()]])(
    'is stopped when the model ends with %s and calls are left',
    async (_, parts) => {
      const { chunks, answer } = await run(parts, { steps: 1, stops: false });
      const error = { code: 'budget_exceeded', details: { reason: 'steps' } };
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'stopped', error });
      expect(answer).toMatchObject(error);
    },
  );
});
