import { readUIMessageStream } from 'ai';
import { describe, expect, it } from 'vitest';
import { hurry } from '../../../fixtures/processes/hurry.ts';
import { mortal } from '../../../fixtures/processes/lost-instance.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type HostedRuntime,
  localPrincipal,
  type ObservedEvent,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { type HangingTool, hangingTools } from '../../../fixtures/processes/hanging-tools.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import {
  lastData,
  recordedChunks,
  runRequest,
  terminalChunks,
  testRuntime,
  userMessage,
} from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const types = Object.keys(hangingTools) as (keyof typeof hangingTools)[];

/** How a call loses its result, and what the stream then says of one that only reads. */
const losses = {
  'a cancel by the signal': { readOnlyCode: 'cancelled', terminal: 'abort' },
  'a cancel by the id of the run': { readOnlyCode: 'cancelled', terminal: 'abort' },
  "the run's deadline": { readOnlyCode: 'deadline_exceeded', terminal: 'error' },
  "the tool's time-out": { readOnlyCode: 'deadline_exceeded', terminal: 'finish' },
  'the loss of its worker': { readOnlyCode: 'cancelled', terminal: 'error' },
} as const;
type Loss = keyof typeof losses;
const cases = types.flatMap((type) => (Object.keys(losses) as Loss[]).map((loss) => [type, loss] as const));

const limits: Readonly<Partial<Record<Loss, object>>> = {
  "the run's deadline": { totalMs: 300 },
  "the tool's time-out": { toolMs: 500 },
};

const hold = hurry();

interface Lost {
  readonly chunks: readonly UIMessageChunk[];
  readonly events: readonly ObservedEvent[];
  /** What the model of the chat's next turn reads. */
  readonly nextPrompt: string;
}

/** Makes the call, takes its result away, and takes the chat's next turn. */
async function lose(tool: HangingTool, loss: Loss): Promise<Lost> {
  let time = 1_800_000_000_000;
  const storage = memoryStorage({ now: () => time });
  const worker = mortal(storage);
  const { sink, events } = memorySink();
  const { model, calls } = scriptedModel(callsTools({ tool: tool.name, input: tool.input }), says('ok'));
  const shared = { ...tool.options, model, sinks: [sink], now: () => time };
  const runtime = testRuntime({ ...shared, storage: worker.storage, limits: { commitSpacingMs: 0, ...limits[loss] } });
  const other = testRuntime({ ...shared, storage, recovery: false });
  const caller = new AbortController();
  const goOn = hold();
  const { request, runId } = await startCall(runtime, tool, caller.signal).finally(goOn);
  if (loss === 'a cancel by the signal') caller.abort('cancelled');
  if (loss === 'a cancel by the id of the run') await runtime.cancel(runId, me);
  if (loss === 'the loss of its worker') {
    worker.kill();
    time += 60_000;
  }
  const chunks = await recordedChunks(loss === 'the loss of its worker' ? other : runtime, runId);
  const answer = await toMessage(chunks, request.chat.messages.at(-1) as UIMessage); // the AI SDK's, as the test wrote it
  const messages = [userMessage('Work'), answer, userMessage('And now?', 'm3')];
  const next = await other.start(runRequest({ chat: { id: 'chat-1', messages } }), me, {});
  await recordedChunks(other, next.runId);
  return { chunks, events, nextPrompt: JSON.stringify(calls.at(-1)?.prompt) };
}

/** Starts a run, and waits until its tool works and a reader has seen the call. */
async function startCall(runtime: HostedRuntime, tool: HangingTool, signal: AbortSignal) {
  const request = tool.needsApproval ? await approved(runtime) : runRequest();
  const { runId } = await runtime.start(request, me, { signals: [signal] });
  await Promise.all([tool.started, shown(runtime, runId)]);
  return { request, runId };
}

/** The request that makes the call after a person has approved it. */
async function approved(runtime: HostedRuntime): Promise<ReturnType<typeof runRequest>> {
  const { runId } = await runtime.start(runRequest(), me, {});
  const chunks = await recordedChunks(runtime, runId);
  const answer = await toMessage(chunks, userMessage('Work'));
  const request = chunks.find((chunk) => chunk.type === 'tool-approval-request');
  await runtime.decide(runId, request?.approvalId ?? '', { approved: true }, me);
  return runRequest({ chat: { id: 'chat-1', messages: [userMessage('Work'), answer] } });
}

/** The message as an AI SDK client has it after the stream. */
async function toMessage(chunks: readonly UIMessageChunk[], last: UIMessage): Promise<UIMessage> {
  let message: UIMessage | undefined = last.role === 'assistant' ? last : undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      chunks.forEach((chunk) => controller.enqueue(chunk));
      controller.close();
    },
  });
  const states = readUIMessageStream({ stream, ...(message && { message }), onError: () => undefined });
  for await (const state of states) message = state;
  return message ?? expect.fail('there is no message');
}

/** Resolves when a reader has seen the call. */
async function shown(runtime: HostedRuntime, runId: string): Promise<void> {
  const cursor = await runtime.runs.cursor(me, runId, 0);
  for (let page = await cursor.next(); page; page = await cursor.next()) {
    if (page.some(({ text }) => text.includes('"tool-input-available"'))) break;
  }
  cursor.close();
}

const ends = new Set(['tool-output-available', 'tool-output-error', 'tool-output-denied', 'tool-input-error']);

function endsOf(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] {
  return chunks.filter(({ type }) => ends.has(type));
}

describe.concurrent('a call without a result', () => {
  it.each(cases)(
    'of a %s tool that may act is outcome_unknown after %s, in stream, events and history',
    async (type, loss) => {
      const tool = await hangingTools[type]({ readOnly: false });
      const { chunks, events, nextPrompt } = await lose(tool, loss);
      expect(endsOf(chunks)).toMatchObject([{
        type: 'tool-output-error',
        errorText: expect.stringContaining('unknown'),
      }]);
      const failure = { tool: tool.name, code: 'outcome_unknown', retryable: false, attempt: 1 };
      expect(lastData(chunks, 'data-tool-error')).toMatchObject(failure);
      expect(terminalChunks(chunks)).toMatchObject([{ type: losses[loss].terminal }]);
      const told = events.filter(({ target, status }) => target.type === 'tool' && status === 'error');
      expect(told.map(({ error }) => error?.code)).toContain('outcome_unknown');
      expect(nextPrompt).toContain('is unknown');
    },
  );

  it.each(Object.entries(losses))(
    'of a tool that only reads ends with its cause after %s',
    async (loss, { readOnlyCode }) => {
      const { chunks } = await lose(await hangingTools.function({ readOnly: true }), loss as Loss); // safe: a key of it
      expect(endsOf(chunks)).toHaveLength(1);
      expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: readOnlyCode });
    },
  );
});
