/** Reads what a run says, in one go or in several: who leaves reads on behind the last chunk. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { UIMessage, UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { comingBack } from '../../../src/runtime/stored-run.ts';
import type { PlanTerms, Transport } from './run.ts';

/** How far a run was read. */
export interface Reading {
  /** Whether reading is paused while the run continues. */
  readonly isLeft: boolean;
  /** How many chunks had been taken in each time that the reader left. */
  readonly leftAt: readonly number[];
}

/** The request to the runtime. */
export interface RunAsked {
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
export interface RunReader {
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
export function createRunReader(asked: RunAsked, { signal: stop, take, isOver }: RunReaderOptions): RunReader {
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
