import { readUIMessageStream } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, localPrincipal, type Tool, type UIMessage, type UIMessageChunk } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const messages = [userMessage('Pay the invoice')];

/** A tool that never answers. */
function hanging(annotations: Tool['definition']['annotations'], onStart: () => void): Tool {
  return defineTool({
    id: 'pay',
    description: 'Pays',
    input: v.object({ amount: v.number() }),
    ...(annotations && { annotations }),
    execute: () => {
      onStart();
      return new Promise(() => undefined);
    },
  });
}

/** Cancels the run of a plan whose agent calls a tool, then continues the chat. */
async function cancelDuringCall(annotations?: Tool['definition']['annotations']) {
  const started = Promise.withResolvers<void>();
  const { model, calls } = scriptedModel(
    callsTools({ tool: 'pay', input: { amount: 7 }, id: 'a' }),
    says('Let me check'),
  );
  const runtime = testRuntime({ model, tools: [hanging(annotations, started.resolve)] });
  const stop = new AbortController();
  const request = runRequest({ chat: { id: 'chat-1', messages }, planner: {} });
  const stream = await runtime.run(request, me, { signal: stop.signal });
  const reading = readAll(stream);
  await started.promise;
  stop.abort('cancelled');
  const chunks = await reading;
  const answer = await toMessage(chunks);
  const next = runRequest({ chat: { id: 'chat-1', messages: [...messages, answer, userMessage('And now?', 'm3')] } });
  await readAll(await runtime.run(next, me));
  await runtime.close();
  return { chunks, nextPrompt: JSON.stringify(calls.at(-1)?.prompt) };
}

/** The message that an AI SDK client builds from the stream. */
async function toMessage(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  let message: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const state of readUIMessageStream({ stream, onError: () => undefined })) message = state;
  return message ?? expect.fail('there is no message');
}

describe('a cancelled run that follows a plan', () => {
  it('shows the calls of the plan that may have acted as outcome_unknown, and the next model reads them', async () => {
    const { chunks, nextPrompt } = await cancelDuringCall();
    expect(chunks.find(({ type }) => type === 'tool-input-available')).toMatchObject({
      toolName: 'pay',
      input: { amount: 7 },
      toolCallId: expect.stringMatching(/^[\w-]{1,40}$/),
    });
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({
      tool: 'pay',
      code: 'outcome_unknown',
      retryable: false,
      details: { reason: 'cancelled' },
    });
    expect(lastData(chunks, 'data-plan')).toMatchObject({ state: 'cancelled' });
    expect(terminalChunks(chunks)).toEqual([{ type: 'abort', reason: 'cancelled' }]);
    expect(nextPrompt).toContain('"toolName":"pay"');
    expect(nextPrompt).toContain('is unknown');
  });

  it('says nothing of calls that only read', async () => {
    const { chunks, nextPrompt } = await cancelDuringCall({ readOnlyHint: true });
    expect(chunks.some(({ type }) => type === 'data-tool-error')).toBe(false);
    expect(nextPrompt).not.toContain('is unknown');
  });
});
