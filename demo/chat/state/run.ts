/** One run for the page: reads its stream into an answer, and can stop it. */

import { comingBack } from '../../../src/base/until-aborted.ts';
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { ConnectedRuntime } from '../../../adapters/transport/comlink.ts';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { ChatTransport, UIMessage, UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { ForkOptions } from '../../../src/runtime/runtime.ts';
import type { SteeringMessageInput } from '../../../src/runtime/steering.ts';
import type { StoredAttachment } from '../../files/state/attached-file.ts';
import { createFrameQueue, type Schedule } from '../../kit/hooks/frame-queue.ts';
import type { Reading, Run } from './chat.ts';
import type { AssistantMessage, Outcome } from './message.ts';
import { createReceiver, type Receiver } from './receive.ts';

/** What runs agents: sends messages as the AI SDK's transport does, and decisions on calls that wait. */
export interface Transport extends Pick<ChatTransport<UIMessage>, 'sendMessages'> {
  /** Returns what a run says behind its first `after` chunks. Aborting the signal stops it. */
  resume(
    runId: string,
    after: number,
    options: { readonly signal: AbortSignal },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /** Starts a fork of a run. Rejects with a `PinnaceError` as `Runtime.fork` does. Aborting the signal stops the fork. */
  fork(
    runId: string,
    fork: ForkOptions,
    options: { readonly signal: AbortSignal },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /** Rejects with a `PinnaceError`: `already_decided`, `approval_expired`, `not_found`, or that it did not arrive. */
  decide(runId: string, approvalId: string, decision: Decision): Promise<void>;
  /** Sends a message to a run that works. Rejects with a `PinnaceError` when the run does not take it. */
  send(runId: string, message: SteeringMessageInput): Promise<unknown>;
  /** Rejects with a `PinnaceError` as `Runtime.reply` does, or that it did not arrive. */
  reply(runId: string, reply: { readonly askId: string; readonly answer: unknown }): Promise<void>;
  /** Reads a stored file by its `pinnace-blob:` address. Rejects with `not_found`. */
  readFile(url: string): Promise<Blob>;
  /** What MCP servers have, and need of the person. Rejects when the endpoint is not reached. */
  mcp(): Promise<McpContent>;
}

/** The prompts and resources of MCP servers, sign-ins to them, and answers to their questions. */
export type McpContent = Pick<
  ConnectedRuntime,
  'prompts' | 'resources' | 'apps' | 'mcpSignIns' | 'inbox' | 'schedules' | 'chats' | 'undo'
>;

/** How long a stopped run may take to say its last. */
export const stopWithinMs = 1000;

/** How a run plans. */
export type PlanTerms = { readonly allowHumanIntervention: boolean } | { readonly planId: string };

interface RunOptions extends RunAsked {
  /** The answer to fill, or to go on with. */
  readonly answer: AssistantMessage;
  /** Called with the address of a file that the run has stored. */
  readonly onStored?: ((stored: StoredAttachment) => void) | undefined;
  readonly now: () => number;
  readonly schedule?: Schedule | undefined;
  /** Joins a run after a reload instead of starting one. */
  readonly join?: Join | undefined;
}

/** A run that another visit of the page started. */
export interface Join {
  readonly runId: string;
  /** Called before the first chunk is taken in: it replaces what is stored of the run. */
  readonly onStart: () => void;
}

/** A chunk and when it came. */
interface Arrival {
  readonly chunk: UIMessageChunk;
  readonly at: number;
}

/** Starts a run that fills `answer`. */
export function startRun(options: RunOptions): Run {
  const { answer, now, schedule, onStored, join } = options;
  const abort = new AbortController();
  const { promise: tooSlow, resolve: giveUp } = Promise.withResolvers<void>();
  /** When the chunk came that is being taken in: it may have waited for a frame. */
  let arrived: number | undefined;
  let made: Receiver | undefined;
  // Made with the first chunk: a run that is joined replaces parts of the answer before.
  const receiver = (): Receiver =>
    made ??= createReceiver(answer, {
      now: () => arrived ?? now(),
      onStored,
      stoppedBy: () => abort.signal.aborted ? 'person' : 'runtime',
    });
  const queue = createFrameQueue<Arrival>(
    (arrivals) =>
      batch(() => {
        for (const { chunk, at } of arrivals) {
          arrived = at;
          receiver().receive(chunk);
        }
        arrived = undefined;
      }),
    schedule && { schedule },
  );

  function end(error: ErrorData): void {
    const stopped: Outcome = { type: 'stopped', by: 'person', endedAt: now() };
    queue.flush();
    const failed: Outcome = !hasStarted ? cutOff : { type: 'failed', error, endedAt: now() };
    receiver().end(abort.signal.aborted ? stopped : failed);
  }

  const cutOff: Outcome = { type: 'stopped', by: 'page', endedAt: answer.startedAt };
  let hasStarted = join === undefined;
  const reader = createRunReader({ ...options, joined: join?.runId }, {
    signal: abort.signal,
    take(chunk) {
      if (!hasStarted) join?.onStart();
      hasStarted = true;
      queue.push({ chunk, at: now() });
    },
    isOver: () => answer.outcome.value.type !== 'running',
  });
  async function read(): Promise<void> {
    try {
      await reader.read();
      end(brokenOff);
    } catch (error) {
      end(toData(error));
    }
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = Promise.race([read(), tooSlow]).finally(() => {
    clearTimeout(timer);
  });
  return {
    ended,
    reading: reader.reading,
    leave: () => reader.leave(),
    readOn: () => reader.readOn(),
    stop() {
      if (answer.outcome.value.type !== 'running') return;
      abort.abort('stopped by the person');
      reader.readOn(); // reads the run's last chunks
      timer ??= setTimeout(() => {
        end(brokenOff);
        giveUp();
      }, stopWithinMs);
    },
  };
}

const brokenOff: ErrorData = {
  code: 'unavailable',
  message: 'The connection closed before the answer was complete',
  retryable: true,
  details: { reason: 'stream_cut' },
};

/** The request to the runtime. */
interface RunAsked {
  readonly transport: Transport;
  readonly chatId: string;
  readonly agentId: string;
  readonly messages: UIMessage[];
  /** The terms of a plan, or the plan to follow; without it the agent does not plan. */
  readonly planner?: PlanTerms | undefined;
  /** Further fields of the run's request. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** The run to read from its start instead of starting one. */
  readonly joined?: string | undefined;
}

/** A reader of one run. */
interface RunReader {
  readonly reading: ReadonlySignal<Reading>;
  /** Requests the run and reads it. Resolves when its stream has ended or reading stops. */
  read(): Promise<void>;
  /** Stops reading, once it is known which run it is. */
  leave(): void;
  /** Reads on behind the last chunk that was taken in. */
  readOn(): void;
}

interface RunReaderOptions {
  /** Stops the run. */
  readonly signal: AbortSignal;
  readonly take: (chunk: UIMessageChunk) => void;
  /** Whether the answer has ended before the run said anything. */
  readonly isOver: () => boolean;
}

/** Creates the reader. Requests nothing before `read`. */
function createRunReader(asked: RunAsked, { signal: stop, take, isOver }: RunReaderOptions): RunReader {
  const reading = signal<Reading>({ isLeft: false, leftAt: [] });
  let taken = 0;
  let runId: string | undefined;
  let hasEnded = false;
  let reader: ReadableStreamDefaultReader<UIMessageChunk> | undefined;
  /** From leaving until the reader is back. */
  let gap: PromiseWithResolvers<void> | undefined;

  async function readAll(stream: ReadableStream<UIMessageChunk>): Promise<void> {
    reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (gap) return; // what was under way when the reader left is read again
      taken++;
      if (next.value.type === 'data-run') runId ??= next.value.id;
      hasEnded ||= last.has(next.value.type);
      take(next.value);
    }
  }

  return {
    reading,
    async read() {
      const { transport, joined } = asked;
      const stream = await (joined === undefined ? send(asked, stop) : transport.resume(joined, 0, { signal: stop }));
      if (isOver()) return await stream.cancel('stopped');
      await readAll(stream);
      while (gap && runId !== undefined) {
        await gap.promise;
        gap = undefined;
        await readAll(await asked.transport.resume(runId, taken, { signal: stop }));
      }
    },
    leave() {
      if (gap || hasEnded || runId === undefined) return;
      gap = Promise.withResolvers();
      reading.value = { isLeft: true, leftAt: [...reading.value.leftAt, taken] };
      void reader?.cancel(comingBack).catch(() => undefined); // a stream that has failed says so by itself
    },
    readOn() {
      if (!gap) return;
      reading.value = { ...reading.value, isLeft: false };
      gap.resolve();
    },
  };
}

/** Chunks behind which nothing comes. */
const last: ReadonlySet<string> = new Set(['finish', 'abort', 'error']);

function send(
  { transport, chatId, agentId, messages, planner, fields }: RunAsked,
  abortSignal: AbortSignal,
): Promise<ReadableStream<UIMessageChunk>> {
  return transport.sendMessages({
    trigger: 'submit-message',
    chatId,
    messageId: undefined,
    messages,
    abortSignal,
    body: { ...fields, agentId, ...(planner && { planner }) },
  });
}
