/** Time travel in a run: its steps, what a person changes of them, and the fork beside the run. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { Provider } from '../../../src/registry/index.ts';
import type { Transport } from '../../chat/state/run.ts';
import type { Found, RunInputs, RunRecord } from '../../control/runs-control.ts';
import { createFrameQueue, type Schedule } from '../../kit/hooks/frame-queue.ts';
import { compareRuns, type RunComparison } from './compare-runs.ts';
import { draftAt, type ForkDraft, readDraft } from './fork-draft.ts';
import { readSteps, type RunSteps } from './run-steps.ts';
import { type StepFigures, stepFigures } from './step-figures.ts';

export interface Travel {
  /** The run; `undefined` until it is read. */
  readonly run: ReadonlySignal<RunSteps | undefined>;
  /** Why it cannot be read or forked. */
  readonly problem: ReadonlySignal<ErrorData | undefined>;
  readonly inputs: ReadonlySignal<RunInputs | undefined>;
  /** The models that can be chosen; empty where they are not known. */
  readonly providers: ReadonlySignal<readonly Provider[]>;
  /** The form, if it is open. */
  readonly draft: ReadonlySignal<ForkDraft | undefined>;
  /** What is wrong in the form, by the names of its fields. */
  readonly wrong: ReadonlySignal<Readonly<Record<string, string>>>;
  readonly isStarting: ReadonlySignal<boolean>;
  readonly fork: ReadonlySignal<RunSteps | undefined>;
  readonly comparison: ReadonlySignal<RunComparison | undefined>;
  /** Time and tokens of both, step by step, once both have ended. */
  readonly figures: ReadonlySignal<{ readonly left: StepFigures; readonly right: StepFigures }>;
  /** Opens the form for a step. */
  edit(atStep: number): void;
  change(fields: Partial<ForkDraft>): void;
  close(): void;
  /** Starts the fork. Resolves with its id; `undefined` where it could not be started. */
  start(): Promise<string | undefined>;
  show(forkId: string): void;
  /** Shows no fork; one that is running runs on. */
  leave(): void;
  stop(): void;
  /** Reads the run again. */
  refresh(): Promise<void>;
}

interface TravelOptions {
  readonly runId: string;
  readonly transport: Pick<Transport, 'resume' | 'fork'>;
  /** The inputs of the run, where they can be had. */
  readonly inputsOf: (runId: string) => Promise<Found<RunInputs> | undefined>;
  /** The record of a run by its trace, for its time and tokens. */
  readonly recordOf: (traceId: string) => Promise<RunRecord | undefined>;
  readonly providersOf: () => Promise<readonly Provider[]>;
  readonly createId?: () => string;
  readonly schedule?: Schedule;
}

const noFigures = { left: new Map(), right: new Map() };

export function createTravel(options: TravelOptions): Travel {
  const { runId, transport, schedule, createId = () => crypto.randomUUID() } = options;
  const run = signal<RunSteps | undefined>(undefined);
  const problem = signal<ErrorData | undefined>(undefined);
  const inputs = signal<RunInputs | undefined>(undefined);
  const providers = signal<readonly Provider[]>([]);
  const draft = signal<ForkDraft | undefined>(undefined);
  const wrong = signal<Readonly<Record<string, string>>>({});
  const isStarting = signal(false);
  const followed = signal<Followed | undefined>(undefined);
  const figures = signal<{ readonly left: StepFigures; readonly right: StepFigures }>(noFigures);
  const fork = computed(() => followed.value?.steps.value);

  async function refresh(): Promise<void> {
    problem.value = undefined;
    const abort = new AbortController(); // never aborted: that would stop the run
    try {
      run.value = readSteps(await Array.fromAsync(await transport.resume(runId, 0, { signal: abort.signal })));
      const found = await options.inputsOf(runId);
      if (found?.ok) inputs.value = found.value;
      else if (found) problem.value = found.error;
      providers.value = await options.providersOf();
    } catch (error) {
      problem.value = toData(error);
    }
  }

  /** Reads a run to its end, whatever is shown meanwhile, and then compares its figures. */
  function follow(stream: ReadableStream<UIMessageChunk>, abort: AbortController): Promise<Followed> {
    return followRun(stream, { abort, schedule, onEnd: () => void measure() });
  }

  async function measure(): Promise<void> {
    const [before, after] = [run.peek(), fork.peek()];
    if (!before?.traceId || !after?.traceId || after.state === 'running') return;
    const left = await options.recordOf(before.traceId).catch(() => undefined);
    const right = await options.recordOf(after.traceId).catch(() => undefined);
    if (fork.peek()?.runId !== after.runId) return; // another is shown meanwhile
    figures.value = {
      left: stepFigures(left, before.fork?.atStep ?? 1),
      right: stepFigures(right, after.fork?.atStep ?? 1),
    };
  }

  async function open(forkId: string): Promise<void> {
    const abort = new AbortController();
    try {
      const found = await follow(await transport.resume(forkId, 0, { signal: abort.signal }), abort);
      followed.value = found;
      void measure();
    } catch (error) {
      problem.value = toData(error);
    }
  }

  void refresh();
  return {
    run,
    problem,
    inputs,
    providers,
    draft,
    wrong,
    isStarting,
    fork,
    // Until the fork says from which step, nothing of it is known to be shared.
    comparison: computed(() => run.value && fork.value?.fork && compareRuns(run.value, fork.value)),
    figures,
    refresh,
    edit(atStep) {
      if (!run.value) return;
      wrong.value = {};
      draft.value = draftAt(atStep, run.value, inputs.value);
    },
    change(fields) {
      if (!draft.value) return;
      wrong.value = {};
      draft.value = { ...draft.value, ...fields };
    },
    close: () => void (draft.value = undefined),
    async start() {
      if (!draft.value || !run.value) return undefined;
      const read = readDraft(draft.value, run.value, { inputs: inputs.value, createId });
      wrong.value = read.ok ? {} : read.problems;
      if (!read.ok) return undefined;
      isStarting.value = true;
      problem.value = undefined;
      const abort = new AbortController();
      try {
        const started = await follow(await transport.fork(runId, read.options, { signal: abort.signal }), abort);
        figures.value = noFigures;
        followed.value = started;
        void options.inputsOf(runId).then((found) => found?.ok && (inputs.value = found.value), () => undefined); // it lists the fork
        return started.id;
      } catch (error) {
        problem.value = toData(error);
        return undefined;
      } finally {
        isStarting.value = false;
      }
    },
    show(forkId) {
      if (followed.value?.id === forkId) return;
      followed.value = undefined;
      figures.value = noFigures;
      problem.value = undefined;
      void open(forkId);
    },
    leave: () => void (followed.value = undefined),
    stop: () => followed.value?.abort.abort('stopped'),
  };
}

/** A run that is read as it grows. */
interface Followed {
  readonly id: string;
  readonly steps: ReadonlySignal<RunSteps>;
  readonly abort: AbortController;
}

interface FollowOptions {
  /** Stops the run. */
  readonly abort: AbortController;
  readonly schedule?: Schedule | undefined;
  /** The stream has ended, or was lost. */
  readonly onEnd: () => void;
}

/** Reads a stream to its end, as far as it comes. Resolves once the run has an id. */
function followRun(
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
