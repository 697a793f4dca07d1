/** Shows a program in the stream of its run, as one part that changes. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';

/** The state of a program in the stream. */
export type ProgramStateName = 'running' | 'suspended' | 'completed' | 'failed';

/** What a program has done so far. */
export interface ProgramView {
  /** A call starts. */
  called(call: { readonly tool: string; readonly acts: boolean }): void;
  show(state: ProgramStateName): void;
  readonly counts: { readonly calls: number; readonly sideEffects: number; readonly replayed: number };
}

/** The most tools that are listed by name. */
const maxTools = 32;
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
  const counts = { calls: 0, sideEffects: 0, replayed };
  let shownAt = 0;
  const show = (state: ProgramStateName): void => {
    shownAt = now();
    const data = { toolCallId, state, ...counts, tools: Object.fromEntries(tools) };
    push({ type: 'data-program', id: toolCallId, data });
  };
  return {
    counts,
    show,
    called({ tool, acts }) {
      counts.calls += 1;
      if (acts) counts.sideEffects += 1;
      if (tools.has(tool) || tools.size < maxTools) tools.set(tool, (tools.get(tool) ?? 0) + 1);
      if (now() - shownAt >= spacingMs) show('running');
    },
  };
}
