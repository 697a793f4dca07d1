import { expect, it } from 'vitest';
import { createPrompts } from '../../../../demo/inspector/worker/prompts.ts';
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
