import { readUIMessageStream } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { defineTool, localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { programsIn } from '../../../../src/runtime/message-parts.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

const erase = defineTool({
  id: 'erase',
  description: 'Erases',
  approval: 'always',
  input: v.object({}),
  execute: () => 'erased',
});

/** A chat whose call waits for a person, and what goes on in it. */
async function waiting() {
  const sent: string[] = [];
  const send = defineTool({
    id: 'send',
    description: 'Sends',
    input: v.object({ to: v.string() }),
    approval: 'always',
    execute: ({ to }) => (sent.push(to), 'sent'),
  });
  const { model, calls } = scriptedModel(callsTools({ tool: 'send', input: { to: 'ada' } }), says('Done'));
  const runtime = testRuntime({ model, tools: [send] });
  const question = userMessage('Send it');
  const [read, kept] = (await runtime.run(runRequest({ chat: { id: 'c', messages: [question] } }), me)).tee();
  const chunks = await readAll(kept);
  let answer: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream: read })) answer = message;
  const request = chunks.find((chunk) => chunk.type === 'tool-approval-request');
  const runId = String(lastData(chunks, 'data-run')['runId']);
  const approvalId = request?.approvalId ?? '';
  return {
    sent,
    decide: (decision: { approved: boolean; reason?: string }) => runtime.decide(runId, approvalId, decision, me),
    /** The prompt of a run that answers a new message; the client may know of a decision. */
    goOn: async (approval?: { approved: boolean; reason?: string }): Promise<string> => {
      const parts = answer?.parts.map((part) =>
        'approval' in part && approval
          ? { ...part, state: 'approval-responded', approval: { id: approvalId, ...approval } }
          : part
      );
      const messages = [question, { ...answer, parts } as UIMessage, userMessage('What about tea?', 'm2')];
      await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
      return JSON.stringify(calls.at(-1)?.prompt);
    },
    /** The run that uses the decision. */
    settle: async () =>
      await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages: [question, answer!] } }), me)),
  };
}

describe('a call that waits for a person when the chat goes on', () => {
  it.each([undefined, { approved: false, reason: 'Too late' }])(
    'was not made, and the model learns that a person denied it: %o',
    async (known) => {
      const { decide, goOn, sent } = await waiting();
      await decide({ approved: false, reason: 'Too late' });
      expect(await goOn(known)).toContain('The call was not made: a person denied it: Too late');
      expect(sent).toEqual([]);
    },
  );

  it.each([undefined, { approved: true }])('was not made, although a person has approved it: %o', async (known) => {
    const { decide, goOn, sent } = await waiting();
    await decide({ approved: true });
    expect(await goOn(known)).toContain('The call was not made: it waited for the approval of a person');
    expect(sent).toEqual([]);
  });

  it('was not made where no one has decided', async () => {
    const { goOn } = await waiting();
    const prompt = await goOn();
    expect(prompt).toContain('The call was not made: it waited for the approval of a person');
    expect(prompt.indexOf('"tool-result"')).toBeLessThan(prompt.indexOf('tea'));
  });

  it.each([undefined, { approved: true }])(
    'may have been made where a run has used the decision: %o',
    async (known) => {
      const { decide, goOn, settle, sent } = await waiting();
      await decide({ approved: true });
      await settle();
      expect(sent).toEqual(['ada']);
      const prompt = await goOn(known);
      expect(prompt).not.toContain('was not made');
      expect(prompt).toContain('outcome of this call is unknown');
    },
  );
});

it.each([['the last message', 1], ['an earlier message', 2]])(
  'reads as many records as can wait, whatever %s claims, and finds its programs in linear time',
  async (_, of) => {
    const storage = memoryStorage();
    let reads = 0;
    const get: typeof storage.get = (key) => (reads += Number(key[0] === 'interruption'), storage.get(key));
    const runtime = testRuntime({ ...scriptedModel(says('Done')), storage: { ...storage, get }, tools: [erase] });
    const state = 'approval-responded' as const;
    const claims = Array.from({ length: 1_000 }, (_one, n) => {
      const approval = { id: `apr_${n}`, approved: true };
      return { type: 'tool-erase' as const, toolCallId: `c${n}`, state, input: {}, approval };
    });
    const answer: UIMessage = { id: 'a', role: 'assistant', parts: claims };
    const messages = [userMessage('Hi'), answer, userMessage('And?', 'm2')].slice(0, of + 1);
    await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(200);
    const ids = Array.from({ length: 200_000 }, (_one, n) => `p${n}`); // in quadratic time it would not end
    const done = { state: 'output-available' as const, input: {}, output: 1 };
    const parts = ids.map((toolCallId) => ({ type: 'tool-code_run' as const, toolCallId, ...done }));
    const programs = programsIn({ id: 'a', role: 'assistant', parts });
    expect(ids.filter((id) => programs.of(`${id}/1`) !== id || programs.of(`x${id}/1`) !== undefined)).toEqual([]);
  },
);
