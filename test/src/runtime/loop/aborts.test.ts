import { APICallError } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, type LanguageModel, localPrincipal } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime } from '../../../fixtures/runtime.ts';

type Stop = () => void;

const overloaded = new APICallError({ message: 'Overloaded', url: '', requestBodyValues: {}, statusCode: 503 });

function answering(doStream: LanguageModel['doStream']) {
  const signals: (AbortSignal | undefined)[] = [];
  const model: LanguageModel = {
    ...scriptedModel().model,
    doStream: (options) => (signals.push(options.abortSignal), doStream(options)),
  };
  return { model, signals };
}

/** By when the run is canceled: what the model and its tool do. They call `stop` at that time. */
const moments: Readonly<Record<string, (stop: Stop) => { answer: LanguageModel['doStream']; work: () => unknown }>> = {
  'before the model has answered': (stop) => ({
    answer: () => (stop(), new Promise(() => undefined)),
    work: () => undefined,
  }),
  'in the middle of a text': (stop) => ({
    answer: () => {
      const stream = stallingStream(says('Half of', ' it').slice(0, 4));
      const stopping = new TransformStream({
        transform(part, controller) {
          controller.enqueue(part);
          if (part.type === 'text-delta') queueMicrotask(stop);
        },
      });
      return Promise.resolve({ stream: stream.pipeThrough(stopping) });
    },
    work: () => undefined,
  }),
  'in the pause before a retry': (stop) => ({
    answer: () => {
      setTimeout(stop); // the failure is known by then
      return Promise.reject(overloaded);
    },
    work: () => undefined,
  }),
  'in a tool': (stop) => ({
    answer: (options) => scriptedModel(callsTools({ tool: 'work', input: {} })).model.doStream(options),
    work: () => (stop(), new Promise(() => undefined)),
  }),
};

describe('a run that is canceled', () => {
  it.each(Object.keys(moments))(
    '%s ends at once as canceled, calls no model again, and stops the call',
    async (moment) => {
      const abort = new AbortController();
      const { answer, work } = moments[moment]!(() => abort.abort('user'));
      const { model, signals } = answering(answer);
      const tool = defineTool({
        id: 'work',
        description: 'Works',
        input: v.looseObject({}),
        execute: () => work() as never,
      });
      const runtime = testRuntime({ model, tools: [tool] });
      const stream = await runtime.run(runRequest(), localPrincipal(), { signal: abort.signal });
      const chunks = await readAll(stream);
      expect(terminalChunks(chunks)).toEqual([{ type: 'abort', reason: 'user' }]);
      expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'cancelled' });
      expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
      expect(chunks.map(({ type }) => type)).not.toContain('error');
    },
  );
});
