/** Shows a program in the stream of its run, as one part that changes. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';

/** The state of a program in the stream. */
export type ProgramStateName = 'running' | 'suspended' | 'completed' | 'failed';

/** How far a call of a program has come. `replayed`: an earlier run made it, and its outcome is known. */
export type ProgramCallState = 'running' | 'done' | 'failed' | 'denied' | 'waiting' | 'replayed';

/** A call of a program in the stream: without its input and output. */
interface ShownCall {
  readonly n: number;
  readonly tool: string;
  readonly state: ProgramCallState;
  /** The code of its error. */
  readonly code?: string | undefined;
  readonly ms?: number | undefined;
}

/** What a program has done so far. */
export interface ProgramView {
  /** A call starts. */
  called(call: { readonly n: number; readonly tool: string; readonly acts: boolean }): void;
  /** A call has come so far. */
  reached(call: { readonly n: number; readonly tool: string }, state: ProgramCallState, code?: string): void;
  /** The program waits for a sandbox, or has got one. */
  queue(isWaiting: boolean): void;
  show(state: ProgramStateName): void;
  readonly counts: Readonly<Counts>;
}

interface Counts {
  calls: number;
  sideEffects: number;
  replayed: number;
  /** How long it waited for a sandbox; absent where it did not. */
  queuedMs?: number;
}

/** The most tools, and calls, that are listed. */
const maxListed = 32;
/** Changes within this time are shown together. */
const spacingMs = 250;

/** Creates the view of a program. */
export function createProgramView(
  { toolCallId, replayed, push, now }: {
    readonly toolCallId: string;
    readonly replayed: number;
    readonly push: (chunk: UIMessageChunk) => void;
    readonly now: () => number;
  },
): ProgramView {
  const tools = new Map<string, number>();
  const calls = new Map<number, ShownCall>();
  const startedAt = new Map<number, number>();
  const counts: Counts = { calls: 0, sideEffects: 0, replayed };
  let shownAt = 0;
  let queuedAt: number | undefined;
  const list = (call: ShownCall): void => {
    if (calls.has(call.n) || calls.size < maxListed) calls.set(call.n, call);
  };
  const show = (state: ProgramStateName): void => {
    shownAt = now();
    const queued = queuedAt !== undefined && { queued: true };
    const shown = { tools: Object.fromEntries(tools), list: [...calls.values()] };
    const data = { toolCallId, state, ...counts, ...queued, ...shown };
    push({ type: 'data-program', id: toolCallId, data });
  };
  return {
    counts,
    show,
    queue(isWaiting) {
      if (queuedAt !== undefined) counts.queuedMs = now() - queuedAt;
      queuedAt = isWaiting ? now() : undefined;
      show('running');
    },
    called({ n, tool, acts }) {
      startedAt.set(n, now());
      list({ n, tool, state: 'running' });
      counts.calls += 1;
      if (acts) counts.sideEffects += 1;
      if (tools.has(tool) || tools.size < maxListed) tools.set(tool, (tools.get(tool) ?? 0) + 1);
      if (now() - shownAt >= spacingMs) show('running');
    },
    reached({ n, tool }, state, code) {
      const started = startedAt.get(n);
      startedAt.delete(n);
      const ms = started === undefined ? undefined : now() - started;
      list({ n, tool, state, ...(code !== undefined && { code }), ...(ms !== undefined && { ms }) });
    },
  };
}
