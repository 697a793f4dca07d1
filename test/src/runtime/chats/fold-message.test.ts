import { readUIMessageStream } from 'ai';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, type UIMessage, type UIMessageChunk } from '../../../../src/index.ts';
import { fitMessage, maxMessageLength } from '../../../../src/runtime/chat-record.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { goldenRequests } from '../../../fixtures/golden/golden-requests.ts';
import { localSandbox } from '../../../fixtures/program-cells.ts';
import { goldenRuntime } from '../../../fixtures/golden/golden.ts';
import { readAll } from '../../../fixtures/runtime.ts';

/** The message as a client of the AI SDK has it, which the transports do not show that a run is running. */
async function messageOfSdk(chunks: readonly UIMessageChunk[], base?: UIMessage): Promise<UIMessage> {
  const shown = chunks.map((chunk) =>
    chunk.type === 'data-run' && (chunk.data as { state: string }).state === 'running'
      ? { ...chunk, transient: true }
      : chunk
  );
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of shown) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  const message = structuredClone(base);
  for await (
    const state of readUIMessageStream({ stream, ...(message && { message }), onError: () => undefined })
  ) last = state;
  return JSON.parse(JSON.stringify(last ?? expect.fail('there is no message'))) as UIMessage;
}

const asJson = (message: UIMessage): unknown => JSON.parse(JSON.stringify(message));

describe('foldMessage', () => {
  it('makes of the golden requests the messages that clients of the AI SDK make', async () => {
    const runtime = await goldenRuntime({ storage: memoryStorage(), sandbox: localSandbox() });
    let compared = 0;
    for (const { request } of goldenRequests) {
      const stream = await runtime.run(request, localPrincipal()).catch(() => undefined);
      if (!stream) continue; // a request that is to be refused
      compared++;
      const chunks = await readAll(stream);
      expect(asJson(foldMessage(chunks, undefined))).toEqual(await messageOfSdk(chunks));
    }
    expect(compared).toBeGreaterThan(90);
  });

  it('makes each kind of part that the AI SDK makes', async () => {
    const metadata = { provider: { signature: 'abc' } };
    const chunks: UIMessageChunk[] = [
      { type: 'start', messageId: 'm2', messageMetadata: { a: 1 } },
      { type: 'start-step' },
      { type: 'text-start', id: 'w' },
      { type: 'text-delta', id: 'w', delta: 'Wrong' },
      { type: 'reset-step' },
      { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'Shorter' }] },
      { type: 'reasoning-start', id: 'r', providerMetadata: metadata },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { provider: { signature: 'def' } } },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'On' },
      { type: 'text-delta', id: 't', delta: 'e', providerMetadata: metadata },
      { type: 'text-end', id: 't' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Two' },
      { type: 'text-end', id: 't' },
      { type: 'file', url: 'data:text/plain,hi', mediaType: 'text/plain' },
      { type: 'source-url', sourceId: 's1', url: 'https://example.com', title: 'Example' },
      { type: 'source-document', sourceId: 's2', mediaType: 'text/plain', title: 'Doc', filename: 'a.txt' },
      { type: 'tool-input-start', toolCallId: 'c1', toolName: 'add', title: 'Add' },
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'add', input: { a: 1 }, providerMetadata: metadata },
      { type: 'tool-output-available', toolCallId: 'c1', output: 1, preliminary: true },
      { type: 'tool-output-available', toolCallId: 'c1', output: 3 },
      { type: 'tool-input-available', toolCallId: 'c2', toolName: 'sub', input: {}, dynamic: true },
      { type: 'tool-output-error', toolCallId: 'c2', errorText: 'No' },
      { type: 'tool-input-error', toolCallId: 'c3', toolName: 'bad', input: '{', errorText: 'Not JSON' },
      { type: 'tool-input-available', toolCallId: 'c4', toolName: 'wipe', input: {} },
      { type: 'tool-approval-request', toolCallId: 'c4', approvalId: 'a4', reason: 'Why' },
      { type: 'data-note', id: 'n', data: 1 },
      { type: 'data-note', id: 'n', data: 2 },
      { type: 'data-note', data: 3 },
      { type: 'data-seen', data: 4, transient: true },
      { type: 'finish', messageMetadata: { b: 2 } },
    ];
    const message = foldMessage(chunks, undefined);
    expect(asJson(message)).toEqual(await messageOfSdk(chunks));
    const denied: UIMessageChunk[] = [{ type: 'start', messageId: 'm2' }, {
      type: 'tool-output-denied',
      toolCallId: 'c4',
    }];
    expect(asJson(foldMessage(denied, message))).toEqual(await messageOfSdk(denied, message));
    expect(message.parts.at(-1)).toMatchObject({ data: 3 });
  });

  it('leaves no text of a cancelled run streaming', () => {
    const message = foldMessage([
      { type: 'start', messageId: 'm2' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hal' },
      { type: 'abort', reason: 'cancelled' },
    ], undefined);
    expect(message.parts).toEqual([{ type: 'text', text: 'Hal', state: 'done' }]);
  });
});

describe('fitMessage', () => {
  it('replaces the longest outputs of a message that is too long to store', () => {
    const output = 'x'.repeat(maxMessageLength / 2);
    const call = (toolCallId: string, text: string) =>
      ({ type: 'tool-read', toolCallId, state: 'output-available', input: {}, output: text }) as const;
    const message: UIMessage = {
      id: 'm2',
      role: 'assistant',
      parts: [call('a', output), call('b', `${output}y`), call('c', 'short'), { type: 'text', text: 'Done' }],
    };
    const fitted = fitMessage(message);
    expect(JSON.stringify(fitted).length).toBeLessThan(maxMessageLength + 1_000);
    expect(fitted.parts.map((part) => 'output' in part ? String(part.output).slice(0, 11) : 'text')).toEqual([
      'xxxxxxxxxxx',
      'This output',
      'short',
      'text',
    ]);
    expect(fitMessage(fitted)).toBe(fitted);
  });
});
