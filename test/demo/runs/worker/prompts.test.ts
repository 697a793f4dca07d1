import { expect, it } from 'vitest';
import { createPrompts } from '../../../../demo/runs/worker/prompts.ts';
import type { ObservedEvent } from '../../../../src/index.ts';
import { scriptedModel } from '../../../fixtures/model.ts';

it('shows what the provider said with the prompt of the call that it refused', async () => {
  const refusal = Object.assign(new Error('Not found'), {
    responseBody: JSON.stringify({ error: { message: 'The model `ship` does not exist' } }),
  });
  const { model } = scriptedModel(() => {
    throw refusal;
  });
  const prompts = createPrompts();
  const source = prompts.models({ model: () => model });
  const watched = source.model({ id: 'default' } as never, undefined) as typeof model & {
    doStream: (options: object) => unknown;
  };
  const event = { action: 'model.call', status: 'pending', traceId: 't', spanId: 's' };
  prompts.note(event as ObservedEvent); // what it reads of the event
  await expect(watched.doStream({ prompt: [] })).rejects.toBe(refusal);
  expect(prompts.of('t').map(({ said }) => said)).toEqual(['The model `ship` does not exist']);
});

it('shows what the provider said in the middle of its answer', async () => {
  const { model } = scriptedModel([
    { type: 'stream-start', warnings: [] },
    { type: 'error', error: { message: 'Overloaded', type: 'server_error' } },
  ]);
  const prompts = createPrompts();
  const watched = prompts.models({ model: () => model }).model({ id: 'default' } as never, undefined) as
    & typeof model
    & {
      doStream: (options: object) => Promise<{ stream: ReadableStream<{ type: string }> }>;
    };
  prompts.note({ action: 'model.call', status: 'pending', traceId: 't', spanId: 's' } as ObservedEvent);
  const { stream } = await watched.doStream({ prompt: [] });
  const parts = await Array.fromAsync(stream as ReadableStream<{ type: string }> & AsyncIterable<{ type: string }>);
  expect(parts.map(({ type }) => type)).toEqual(['stream-start', 'error']);
  expect(prompts.of('t').map(({ said }) => said)).toEqual(['Overloaded']);
});
