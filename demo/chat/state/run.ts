/** One run for the page: reads its stream into an answer, and can stop it. */

import { batch, type ReadonlySignal } from '@preact/signals';
import type { ChatTransport, UIMessage, UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { SteeringMessageInput } from '../../../src/runtime/steering/message.ts';
import { createFrameQueue, type Schedule } from '../../kit/hooks/frame-queue.ts';
import type { StoredAttachment } from '../../files/state/attached-file.ts';
import type { AssistantMessage, Outcome } from './message.ts';
import { createReceiver } from './receive.ts';
import { createRunReader, type Reading, type RunAsked } from './run-reader.ts';

/** What runs agents: sends messages as the AI SDK's transport does, and decisions on calls that wait. */
export interface Transport extends Pick<ChatTransport<UIMessage>, 'sendMessages'> {
  /** Returns what a run says behind its first `after` chunks. Aborting the signal stops it. */
  resume(
    runId: string,
    after: number,
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
}

/** A run that is going on. */
export interface Run {
  /** Cancels the run. The answer ends after {@link stopWithinMs} at the latest. */
  stop(): void;
  /** Stops reading. The run continues for a while (30 seconds by default), and its log records it. */
  leave(): void;
  /** Resumes reading after the last received chunk. Does nothing while reading. */
  readOn(): void;
  readonly reading: ReadonlySignal<Reading>;
  /** Settles when the answer has ended; never rejects. */
  readonly ended: Promise<void>;
}

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
}

/** A chunk and when it came. */
interface Arrival {
  readonly chunk: UIMessageChunk;
  readonly at: number;
}

/** Starts a run that fills `answer`. */
export function startRun(options: RunOptions): Run {
  const { answer, now, schedule, onStored } = options;
  const abort = new AbortController();
  const { promise: tooSlow, resolve: giveUp } = Promise.withResolvers<void>();
  /** When the chunk came that is being taken in: it may have waited for a frame. */
  let arrived: number | undefined;
  const receiver = createReceiver(answer, {
    now: () => arrived ?? now(),
    onStored,
    stoppedBy: () => abort.signal.aborted ? 'person' : 'runtime',
  });
  const queue = createFrameQueue<Arrival>(
    (arrivals) =>
      batch(() => {
        for (const { chunk, at } of arrivals) {
          arrived = at;
          receiver.receive(chunk);
        }
        arrived = undefined;
      }),
    schedule && { schedule },
  );

  function end(error: ErrorData): void {
    const stopped: Outcome = { type: 'stopped', by: 'person', endedAt: now() };
    queue.flush();
    receiver.end(abort.signal.aborted ? stopped : { type: 'failed', error, endedAt: now() });
  }

  const reader = createRunReader(options, {
    signal: abort.signal,
    take: (chunk) => queue.push({ chunk, at: now() }),
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
  const ended = Promise.race([read(), tooSlow]).finally(() => clearTimeout(timer));
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
