/** What a program of `code_run` has done, as its card shows it. */

import * as v from 'valibot';
import { formatCount, formatDuration } from '../../kit/format.ts';
import type { ToolCall } from './message.ts';
import { readAs } from './run-data.ts';

const count = v.pipe(v.number(), v.minValue(0));

/** `data-program`. */
const Program = v.object({
  state: v.picklist(['running', 'suspended', 'completed', 'failed']),
  calls: count,
  sideEffects: count,
  replayed: count,
  list: v.optional(
    v.array(v.object({
      n: v.number(),
      tool: v.string(),
      state: v.picklist(['running', 'done', 'failed', 'denied', 'waiting', 'replayed']),
      code: v.optional(v.string()),
      ms: v.optional(count),
    })),
    [],
  ),
  /** The acting calls that a guarded agent has stated. */
  acts: v.optional(v.array(v.object({ tool: v.string(), times: count, done: count })), []),
});
export type Program = v.InferOutput<typeof Program>;

/** `data-quoted`: a text that a reader has written from what strangers said. */
const Quoted = v.object({ toolCallId: v.string(), text: v.string(), from: v.array(v.string()) });

/** Returns what the program has quoted; `undefined` where there is nothing. */
export function quotedOf({ quoted }: ToolCall): v.InferOutput<typeof Quoted> | undefined {
  return readAs(Quoted, quoted);
}

/** A call inside a program. */
export type ProgramCall = Program['list'][number];

/** Returns the program of a call; `undefined` before it starts. */
export function programOf({ program }: ToolCall): Program | undefined {
  return readAs(Program, program);
}

/** The code that the model wrote; `undefined` until it is complete. */
export function codeOf({ input }: ToolCall): string | undefined {
  const { code } = (input ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** What the program returned; `undefined` while it has not. */
export function resultOf(call: ToolCall): { readonly value: unknown } | undefined {
  return call.state === 'result' && programOf(call)?.state === 'completed' ? { value: call.output } : undefined;
}

/** `4 calls, 1 of them a change`. */
export function summaryOf({ calls, sideEffects, replayed, list }: Program): string {
  const waiting = list.filter(({ state }) => state === 'waiting').length;
  return [
    formatCount(calls + replayed, 'call'),
    ...(sideEffects > 0 ? [formatCount(sideEffects, 'change')] : []),
    ...(waiting > 0 ? [`${waiting.toLocaleString('en')} waiting`] : []),
  ].join(', ');
}

/** How a call went, in words: `done in 3 ms`. */
export function wordsOfCall({ state, code, ms }: ProgramCall): string {
  switch (state) {
    case 'running':
      return 'running';
    case 'done':
      return ms === undefined ? 'done' : `done in ${formatDuration(ms)}`;
    case 'failed':
      return `failed${code === undefined ? '' : ` with ${code}`}${
        ms === undefined ? '' : ` after ${formatDuration(ms)}`
      }`;
    case 'denied':
      return 'denied by you';
    case 'waiting':
      return 'waiting for your decision below';
    case 'replayed':
      return `${code === undefined ? 'done' : `failed with ${code}`} before the program paused`;
    default:
      return state satisfies never;
  }
}

/** How many calls the list leaves out. */
export function notListed({ calls, replayed, list }: Program): number {
  return Math.max(0, calls + replayed - list.length);
}
