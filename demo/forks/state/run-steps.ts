/** The steps of a run, as its stream tells them: texts, calls and their outcomes. */

import type { ErrorData } from '../../../src/base/errors.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';

/** How a call ended, if it has. */
export type CallOutcome =
  | { readonly type: 'open' | 'denied' | 'waiting' }
  | { readonly type: 'output'; readonly output: unknown }
  | { readonly type: 'error'; readonly message: string; readonly code?: string | undefined };

export interface StepCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly outcome: CallOutcome;
}

/** A step of a run: one answer of the model, and the calls that it asked for. */
export interface RunStep {
  /** From 1 on. */
  readonly n: number;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly StepCall[];
}

/** What `data-fork` says. */
export interface ForkFacts {
  readonly parent: string;
  readonly atStep: number;
  readonly changed: readonly string[];
  readonly effects: 'dry' | 'live';
  readonly exact: boolean;
}

/** A run, step by step. */
export interface RunSteps {
  readonly runId: string;
  readonly traceId: string | undefined;
  /** `running`, or how it ended. */
  readonly state: string;
  readonly error: ErrorData | undefined;
  readonly steps: readonly RunStep[];
  /** Present where the run is a fork. */
  readonly fork: ForkFacts | undefined;
  /** Outputs that the fork replaced, by the ids of their calls. */
  readonly edited: ReadonlyMap<string, unknown>;
  readonly usage: Readonly<Record<string, unknown>>;
}

type Draft<T> = { -readonly [F in keyof T]: T[F] };

/** Reads the chunks of a run from its start. */
export function readSteps(chunks: readonly UIMessageChunk[]): RunSteps {
  const reader = createReader();
  for (const chunk of chunks) reader.take(chunk);
  return reader.run;
}

function createReader(): { readonly run: RunSteps; readonly take: (chunk: UIMessageChunk) => void } {
  const steps: (Draft<RunStep> & { calls: Draft<StepCall>[] })[] = [];
  const calls = new Map<string, Draft<StepCall>>();
  const edited = new Map<string, unknown>();
  const run: Draft<RunSteps> = {
    runId: '',
    traceId: undefined,
    state: 'running',
    error: undefined,
    steps,
    fork: undefined,
    edited,
    usage: {},
  };
  let isInStep = false;

  function settle(id: string, outcome: CallOutcome): void {
    const call = calls.get(id);
    if (!call) return;
    // A fork writes what it replaces between the shared steps and its own first one.
    if (run.fork && !isInStep && outcome.type === 'output') edited.set(id, outcome.output);
    else call.outcome = outcome;
  }

  function takeData({ type, data }: { readonly type: string; readonly data: unknown }): void {
    if (!isRecord(data)) return;
    if (type === 'data-run') {
      run.runId = String(data['runId']);
      run.traceId = typeof data['traceId'] === 'string' ? data['traceId'] : run.traceId;
      run.state = String(data['state']);
      run.error = data['error'] as ErrorData | undefined; // the runtime's own part
    } else if (type === 'data-fork') run.fork = data as unknown as ForkFacts; // as above
    else if (type === 'data-usage') run.usage = data;
    else if (type === 'data-tool-error') {
      const { toolCallId, message, code } = data;
      settle(String(toolCallId), { type: 'error', message: String(message), code: String(code) });
    }
  }

  function take(chunk: UIMessageChunk): void {
    const step = steps.at(-1);
    switch (chunk.type) {
      case 'start-step':
        isInStep = true;
        return void steps.push({ n: steps.length + 1, text: '', reasoning: '', calls: [] });
      case 'finish-step':
        return void (isInStep = false);
      case 'text-delta':
        return void (step && (step.text += chunk.delta));
      case 'reasoning-delta':
        return void (step && (step.reasoning += chunk.delta));
      case 'tool-input-available':
      case 'tool-input-error': {
        if (calls.has(chunk.toolCallId)) return;
        const call = {
          id: chunk.toolCallId,
          tool: chunk.toolName,
          input: chunk.input,
          outcome: { type: 'open' } as const,
        };
        calls.set(call.id, call);
        step?.calls.push(call);
        if (chunk.type === 'tool-input-error') settle(call.id, { type: 'error', message: chunk.errorText });
        return;
      }
      case 'tool-approval-request':
        return settle(chunk.toolCallId, { type: 'waiting' });
      case 'tool-output-available':
        return settle(chunk.toolCallId, { type: 'output', output: chunk.output });
      case 'tool-output-denied':
        return settle(chunk.toolCallId, { type: 'denied' });
      case 'tool-output-error': {
        const known = calls.get(chunk.toolCallId)?.outcome;
        if (known?.type === 'error' && known.code !== undefined) return; // `data-tool-error` says more
        return settle(chunk.toolCallId, { type: 'error', message: chunk.errorText });
      }
      default:
        if ('data' in chunk) takeData(chunk);
    }
  }

  return { run, take };
}
