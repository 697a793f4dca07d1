/** What the claim of a fork writes: its state, its opening with the shared chunks behind it, and where it is found. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { openingChunks } from './run.ts';
import { type ForkedFrom, ownerOfRun, placeOf, runPrefix, type Segment } from './run-record.ts';
import type { Resolution, ResumedRun, RunIdentity, RuntimeParts } from './run-context.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import type { ForkEntry } from './fork-options.ts';
import type { ForkPlan } from './parent-run.ts';
import type { StepNote } from './run-basis.ts';

/** A deeper fork copies what it shares. */
const maxDepth = 8;

/** What is known of the fork. */
interface ForkFacts {
  readonly resolved: Resolution;
  readonly run: RunIdentity;
  readonly note: StepNote | undefined;
  /** Whether it goes on from the very prompt that the parent had. */
  readonly isExact: boolean;
  /** The chunks that show what was changed of the shared steps. */
  readonly edited: readonly UIMessageChunk[];
  readonly toModel: ResumedRun['toModel'];
}

/** Returns where the run goes on, with what its claim writes. */
export function resumedRun(parts: RuntimeParts, plan: ForkPlan, facts: ForkFacts): ResumedRun {
  const { cut } = plan;
  const { note, edited, toModel } = facts;
  const ids = cut.kept.flatMap(({ chunk }) =>
    chunk.type === 'text-start' || chunk.type === 'reasoning-start' ? [`${chunk.type.slice(0, -6)}:${chunk.id}`] : []
  );
  return {
    step: cut.step,
    shownIds: ids,
    used: { tokens: note?.tokens ?? 0, cost: note?.cost },
    opening: [...edited, ...cut.completing],
    programs: cut.programs,
    toModel,
    claim: {
      ...logOf(parts, plan, facts),
      beside: indexChanges(parts, plan, facts),
      refuse: refusal(parts.storage, plan),
    },
  };
}

/** The log: the opening, then the items of the parent, where they are stored; a fork of many forks copies them. */
function logOf(
  { limits: { retentionMs } }: RuntimeParts,
  plan: ForkPlan,
  facts: ForkFacts,
): Pick<ResumedRun['claim'], 'state' | 'log'> {
  const { parent: { runId, state }, cut } = plan;
  const depth = (state.parent?.depth ?? 0) + 1;
  const own = facts.run.redaction.data(openingOf(plan, facts)).map((chunk) => JSON.stringify(chunk));
  const [first, last] = [cut.kept[0], cut.kept.at(-1)];
  const prefix = first && last ? segmentsOf(runId, state.parent, { after: first.seq - 1, to: last.seq }) : [];
  const { subject } = ownerOfRun(state);
  const isOther = subject !== undefined && subject !== facts.run.principal.subject; // an administrator forks it
  const from = { runId, chatId: state.chatId, ...(isOther && { subject }), step: cut.step };
  const expiresAt = Math.min((state.endedAt ?? state.startedAt) + retentionMs, state.expiresAt ?? Infinity);
  if (depth <= maxDepth) {
    const shared = { ...from, depth, opening: own.length, prefix };
    return { state: { parent: shared, expiresAt }, log: { items: own, seq: own.length + lengthOf(prefix) } };
  }
  const items = [...own, ...cut.kept.map(({ text }) => text)];
  return {
    state: { parent: { ...from, depth: 0, opening: items.length, prefix: [] } },
    log: { items, seq: items.length },
  };
}

function openingOf(
  { parent: { runId: parent, basis }, cut, changed, effects }: ForkPlan,
  { resolved: { toolSet, request: { chat } }, run: { runId, span: { traceId } }, isExact: exact }: ForkFacts,
): readonly UIMessageChunk[] {
  const last = basis.request.chat.messages.at(-1);
  const messageId = last && approvalsRequestedIn(last).length > 0 ? last.id : `msg_${runId.slice(4)}`;
  const data = { parent, atStep: cut.step, chatId: chat.id, changed, effects, exact };
  return [...openingChunks({ runId, traceId, messageId }, toolSet), { type: 'data-fork', id: runId, data }];
}

/** The key under which a fork is listed. */
function forkKey(parentId: string, runId: string): Key {
  return ['fork', parentId, runId];
}

function continuedKey(runId: string): Key {
  return [...runPrefix(runId), 'continued'];
}

function indexChanges(
  { now, ttlMs }: RuntimeParts,
  { parent: { runId: parent }, cut, changed, effects, isContinued }: ForkPlan,
  { resolved: { request: { chat } }, run: { runId } }: ForkFacts,
): readonly Change[] {
  const value: ForkEntry = { runId, chatId: chat.id, atStep: cut.step, changed, effects, startedAt: now() };
  const index: Change = { key: forkKey(parent, runId), value, ttlMs };
  return isContinued ? [index, { key: continuedKey(parent), value: runId, ifVersion: null, ttlMs }] : [index];
}

/** A lost run is continued once. */
function refusal(
  storage: Pick<Storage, 'get'>,
  { parent: { runId }, isContinued }: ForkPlan,
): ResumedRun['claim']['refuse'] {
  const key = continuedKey(runId);
  return async (conflicts) => {
    if (!isContinued || !conflicts.some((one) => JSON.stringify(one) === JSON.stringify(key))) return;
    const continuedBy = (await storage.get(key))?.value;
    throw new PinnaceError('conflict', 'Cannot continue the run: it was continued before; read that run', {
      retryable: false,
      details: { reason: 'already_continued', runId: continuedBy },
    });
  };
}

/** Returns where the items of a run are stored, those behind `after` up to `to`. */
function segmentsOf(
  runId: string,
  parent: ForkedFrom | undefined,
  { after, to }: { readonly after: number; readonly to: number },
): readonly Segment[] {
  const segments: Segment[] = [];
  for (let at = after; at < to;) {
    const place = (parent && placeOf(runId, parent, at)) ?? { runId, after: at, to, shift: 0 };
    const end = Math.min(place.to, to - place.shift);
    segments.push({ runId: place.runId, after: place.after, to: end });
    at = end + place.shift;
  }
  return segments;
}

/** How many items segments have. */
function lengthOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { after, to }) => sum + to - after, 0);
}
