/** Decides about everything that was in flight when an instance left a run: what is made again, what counts, and what is unknown. */

import { toData } from '../base/errors.ts';
import { charactersPerToken } from '../base/text.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { createOpenCalls, leavesDoubt, lostChunks, lostError, stoppedCall } from '../tools/call-ends.ts';
import type { Tool } from '../tools/tool.ts';
import { type Cut, indexesOf, split } from './resume-run.ts';
import type { RunBasis } from './run-basis.ts';
import type { RecoveredPart, RepeatedCall } from './run-context.ts';
import type { RecordedChunk } from './run-record.ts';

/** What another instance has left of a run. */
export interface TornRun extends Pick<RecoveredPart, 'calls' | 'isTorn' | 'waiting' | 'isComplete'> {
  readonly cut: Cut;
  /** The chunks that end what is made again; the model never sees what they end. */
  readonly closing: readonly UIMessageChunk[];
  /** The texts, reasonings and calls that are made again, by their ids. */
  readonly superseded: readonly string[];
  /** The calls whose outcome is unknown. */
  readonly unknown: readonly string[];
}

interface CutOptions {
  readonly started: { has(toolCallId: string): boolean };
  readonly programs: Cut['programs'];
  readonly toolSet: { readonly tools: readonly Tool[] };
  readonly traceId: string;
  readonly hasOutput: boolean;
}

/** Cuts the log where the run goes on. */
export function cutTorn(items: readonly RecordedChunk[], options: CutOptions): TornRun {
  const starts = indexesOf(items, 'start-step');
  const ends = indexesOf(items, 'finish-step');
  const last = starts.at(-1) ?? 0;
  const torn = items.slice(last).map(({ chunk }) => chunk);
  const step = starts.length + 1;
  const isTorn = starts.length > ends.length;
  const waiting = waitingIn(torn);
  if (starts.length > 0 && !isTorn) {
    const isReset = torn.some(({ type }) => type === 'reset-step' || type === 'steering-message');
    const isAnswer = !isReset && !torn.some((chunk) => 'toolCallId' in chunk);
    const isMissing = isAnswer && options.hasOutput && !torn.some(({ type }) => type === 'data-output');
    if (isMissing) return superseded(items, torn, { at: last, step, isTorn });
    const cut = { step, ...split(items, items.length), completing: [], programs: [] };
    return { ...settled, cut, waiting, isComplete: isAnswer };
  }
  const isMade = torn.some((chunk) =>
    'toolCallId' in chunk &&
    (chunk.type.startsWith('tool-output') || chunk.type === 'tool-approval-request' ||
      options.started.has(chunk.toolCallId))
  );
  const isProgram = options.programs.length > 0;
  if (isTorn && !isMade && !isProgram) return superseded(items, torn, { at: last, step, isTorn });
  return counted(items, torn, { ...options, step, isTorn, waiting });
}

const settled = { closing: [], superseded: [], unknown: [], calls: [], isTorn: false, waiting: 0, isComplete: false };

/** The step is asked for again: what it has shown ends, and is dropped from the message. */
function superseded(
  items: readonly RecordedChunk[],
  torn: readonly UIMessageChunk[],
  { at, step, isTorn }: { readonly at: number; readonly step: number; readonly isTorn: boolean },
): TornRun {
  const open = createOpenCalls();
  torn.forEach((chunk) => open.observe(chunk));
  const calls = open.list();
  const closing: readonly UIMessageChunk[] = [
    ...openBlocks(torn),
    ...calls.flatMap((call) => {
      const error = toData(stoppedCall(call.tool, 'superseded'));
      return lostChunks(call, { error, traceId: '' }).slice(0, 1);
    }),
    ...isTorn ? [{ type: 'finish-step' as const }] : [],
    { type: 'reset-step' },
  ];
  const ids = torn.flatMap((chunk) =>
    chunk.type === 'text-start' || chunk.type === 'reasoning-start' ? [chunk.id] : []
  );
  return {
    ...settled,
    cut: { step, ...split(items, at), completing: [], programs: [] },
    closing,
    superseded: [...ids, ...calls.map(({ toolCallId }) => toolCallId)],
  };
}

/** The step counts as far as it was committed, and its calls are settled. */
function counted(
  items: readonly RecordedChunk[],
  torn: readonly UIMessageChunk[],
  { started, programs, toolSet, traceId, step, isTorn, waiting }: CutOptions & {
    readonly step: number;
    readonly isTorn: boolean;
    readonly waiting: number;
  },
): TornRun {
  const open = createOpenCalls();
  torn.forEach((chunk) => open.observe(chunk));
  const inputs = new Map(
    torn.flatMap((chunk) => chunk.type === 'tool-input-available' ? [[chunk.toolCallId, chunk] as const] : []),
  );
  const own = new Set(programs.map(({ toolCallId }) => toolCallId));
  const completing: UIMessageChunk[] = [...openBlocks(torn)];
  const calls: RepeatedCall[] = [];
  const unknown: string[] = [];
  for (const call of open.list().filter(({ toolCallId }) => !own.has(toolCallId))) {
    const given = inputs.get(call.toolCallId);
    const tool = toolSet.tools.find(({ definition }) => definition.name === call.tool);
    const hasStarted = started.has(call.toolCallId);
    if (call.isComplete && tool && given && !(hasStarted && leavesDoubt(tool.definition, given.input))) {
      // Before the first step a person's decision makes the call: the chat says so.
      if (isTorn) calls.push({ toolCallId: call.toolCallId, tool, input: given.input });
      continue;
    }
    if (hasStarted) unknown.push(call.toolCallId);
    const loss = call.isComplete ? 'worker_lost' : 'superseded';
    completing.push(...lostChunks(call, { error: lostError(call, { loss, mayHaveActed: hasStarted }), traceId }));
  }
  const cut = { step, ...split(items, items.length), completing, programs };
  return { ...settled, cut, calls, unknown, waiting, isTorn: isTorn && programs.length === 0 };
}

/** The calls that wait for a person. */
function waitingIn(chunks: readonly UIMessageChunk[]): number {
  const waiting = new Set<string>();
  for (const chunk of chunks) {
    if (chunk.type === 'tool-approval-request') waiting.add(chunk.toolCallId);
    else if (chunk.type.startsWith('tool-output') && 'toolCallId' in chunk) waiting.delete(chunk.toolCallId);
  }
  return waiting.size;
}

/** The chunks that end texts and reasonings without an end. */
function openBlocks(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] {
  const open = new Map<string, UIMessageChunk>();
  for (const chunk of chunks) {
    if (chunk.type === 'text-start') open.set(`t${chunk.id}`, { type: 'text-end', id: chunk.id });
    if (chunk.type === 'reasoning-start') open.set(`r${chunk.id}`, { type: 'reasoning-end', id: chunk.id });
    if (chunk.type === 'text-end') open.delete(`t${chunk.id}`);
    if (chunk.type === 'reasoning-end') open.delete(`r${chunk.id}`);
  }
  return [...open.values()];
}

/** Whether the step before was dropped, to be made again. */
function isDropped({ chunk }: RecordedChunk): boolean {
  return chunk.type === 'data-recovery' && 'data' in chunk &&
    (chunk.data as { readonly again?: boolean }).again === true; // `recoveryChunk`
}

/** Grows with each word and each step that counts. */
export function progressOf(items: readonly RecordedChunk[]): number {
  const words = indexesOf(items, 'text-delta').length + indexesOf(items, 'reasoning-delta').length;
  return words + indexesOf(items, 'finish-step').length - items.filter(isDropped).length;
}

/** What the run has used: what its last note says, and an estimate of the step behind it. Steps that were dropped do not count. */
export function usageOf(
  items: readonly RecordedChunk[],
  { note = {}, torn, basis }: {
    readonly note: RecoveredPart['usage'] | undefined;
    readonly torn: TornRun;
    readonly basis: RunBasis;
  },
): RecoveredPart['usage'] {
  const all = indexesOf(items, 'start-step').length;
  const steps = all - items.filter(isDropped).length - (torn.closing.length > 0 ? 1 : 0);
  const toolCalls =
    torn.cut.kept.filter(({ chunk }) => chunk.type === 'tool-input-available' && chunk.providerExecuted !== true)
      .length;
  const counts = { ...note, steps, toolCalls };
  if (all <= (note.steps ?? 0)) return counts;
  const sent = JSON.stringify(basis.request.chat.messages).length +
    torn.cut.kept.reduce((sum, { text }) => sum + text.length, 0);
  const said = items.slice(indexesOf(items, 'start-step').at(-1)).reduce(
    (sum, { chunk }) => sum + ('delta' in chunk && typeof chunk.delta === 'string' ? chunk.delta.length : 0),
    0,
  );
  const [inputTokens, outputTokens] = [sent, said].map((length) => Math.ceil(length / charactersPerToken)) as [
    number,
    number,
  ];
  return {
    ...counts,
    inputTokens: (note.inputTokens ?? 0) + inputTokens,
    outputTokens: (note.outputTokens ?? 0) + outputTokens,
    totalTokens: (note.totalTokens ?? 0) + inputTokens + outputTokens,
    estimated: true,
  };
}

/** The calls that have no end in these chunks. */
export function openCallsOf(items: readonly RecordedChunk[]): readonly string[] {
  const open = createOpenCalls();
  for (const { chunk } of items) open.observe(chunk);
  return open.list().map(({ toolCallId }) => toolCallId);
}
