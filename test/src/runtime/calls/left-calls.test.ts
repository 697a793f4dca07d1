import { readUIMessageStream } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, localPrincipal, type UIMessage } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

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
