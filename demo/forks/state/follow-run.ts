/** Follows the stream of a run, whose steps are read again as it grows. */

import { type ReadonlySignal, signal } from '@preact/signals';
import { toData } from '../../../src/base/errors.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { createFrameQueue, type Schedule } from '../../kit/hooks/frame-queue.ts';
import { readSteps, type RunSteps } from './run-steps.ts';

/** A run that is read as it grows. */
export interface Followed {
  readonly id: string;
  readonly steps: ReadonlySignal<RunSteps>;
  readonly abort: AbortController;
}

/** How a run is followed. */
export interface FollowOptions {
  /** Stops the run. */
  readonly abort: AbortController;
  readonly schedule?: Schedule | undefined;
  /** The stream has ended, or was lost. */
  readonly onEnd: () => void;
}

/** Reads a stream to its end, as far as it comes. Resolves once the run has an id. */
export function followRun(
  stream: ReadableStream<UIMessageChunk>,
  { abort, schedule, onEnd }: FollowOptions,
): Promise<Followed> {
  const chunks: UIMessageChunk[] = [];
  const steps = signal(readSteps(chunks));
  const { promise, resolve, reject } = Promise.withResolvers<Followed>();
  const queue = createFrameQueue(() => void (steps.value = readSteps(chunks)), schedule ? { schedule } : {});
  const read = async (): Promise<void> => {
    for await (const chunk of stream) {
      chunks.push(chunk);
      queue.push(undefined);
      if (chunk.type === 'data-run' && chunk.id !== undefined) resolve({ id: chunk.id, steps, abort });
    }
    queue.flush();
  };
  read().then(() => reject(new Error('The stream ended before the run started')), (error: unknown) => {
    queue.flush();
    const data = toData(error);
    if (steps.value.state === 'running') steps.value = { ...steps.value, state: 'lost', error: data };
    reject(error);
  }).finally(onEnd);
  return promise;
}
