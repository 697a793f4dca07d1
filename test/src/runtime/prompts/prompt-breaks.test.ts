import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, type ObservedEvent, type Storage, type UIMessage } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const answer = (runId: unknown, id: string): UIMessage => ({
  id,
  role: 'assistant',
  parts: [{ type: 'data-run', data: { runId } }, { type: 'step-start' }, { type: 'text', text: 'Hi' }],
});

function stage(storage: Storage = memoryStorage()) {
  const events: ObservedEvent[] = [];
  const runtime = testRuntime({
    model: scriptedModel(says('Hi')).model,
    storage,
    sinks: [(event) => events.push(event)],
  });
  const turn = async (...messages: UIMessage[]) => {
    const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'c1', messages } }), me));
    return { runId: lastData(chunks, 'data-run')['runId'], usage: lastData(chunks, 'data-usage') };
  };
  const breaks = () => events.filter(({ action }) => action.startsWith('prompt.')).map((one) => one.payloadSummary);
  return { storage, runtime, events, turn, breaks };
}

describe('the beginning of a prompt', () => {
  it('stays over turns, and the call says how much of it a cache may have', async () => {
    const on = stage();
    const first = await on.turn(userMessage('One', 'u1'));
    expect(first.usage['cache']).toBeUndefined();
    const second = await on.turn(userMessage('One', 'u1'), answer(first.runId, 'a1'), userMessage('Two', 'u2'));
    expect(second.usage['cache']).toEqual({ cacheableTokens: expect.any(Number), breaks: [] });
    expect(on.events.findLast(({ action }) => action === 'model.call')?.payloadSummary).toContain('cacheableTokens=');
    expect(on.breaks()).toEqual([]);
  });

  it.each(['the same', 'another'])(
    'is announced before the call where a message was edited, on %s instance',
    async (which) => {
      const on = stage();
      const first = await on.turn(userMessage('One', 'u1'));
      const next = which === 'the same' ? on : stage(on.storage);
      const { usage } = await next.turn(userMessage('Won', 'u1'), answer(first.runId, 'a1'), userMessage('Two', 'u2'));
      expect(next.breaks()).toEqual([
        expect.stringMatching(/^reason=edit block=messages position=1 keptTokens=\d+ lostTokens=\d+/),
      ]);
      expect(usage['cache']).toMatchObject({ breaks: [{ step: 1, reason: 'edit' }] });
      const order = next.events.map(({ action, status }) => `${action} ${status}`);
      expect(order.indexOf('prompt.break ok')).toBeLessThan(order.lastIndexOf('model.call pending'));
      expect(next.runtime.metrics.text()).toContain('pinnace_prompt_breaks_total{agent="helper",reason="edit"} 1');
    },
  );

  it('is announced once for a chat of which nothing is recorded, as one of version 0.2', async () => {
    const on = stage();
    const messages = [userMessage('One', 'u1'), answer('run_before', 'a1'), userMessage('Two', 'u2')];
    const { runId } = await on.turn(...messages);
    await on.turn(...messages, answer(runId, 'a2'), userMessage('Three', 'u3'));
    expect(on.breaks()).toEqual([expect.stringMatching(/^reason=retention /)]);
  });
});
