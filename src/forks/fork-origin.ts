/** From a run and a cut of its log to the run that goes on from there. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { mayChange, type Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Change } from '../contracts/storage.ts';
import { sharedRecord } from '../permission/ownership.ts';
import { composeLoop } from '../runtime/compose-loop.ts';
import { approvalsRequestedIn } from '../runtime/decided-calls.ts';
import { type Limits, minLimits } from '../runtime/limits.ts';
import { stepLimit } from '../runtime/loop.ts';
import { toPrompt } from '../runtime/model-prompt.ts';
import { type ForkPlan, type NotedStep, noteOf } from './parent-run.ts';
import { dryTools, programOutcomes, recordedOutcomes } from './recorded-tools.ts';
import { promptDigests, readBasis, type StepNote } from '../runtime/run-basis.ts';
import type { Resolution, ResumedRun, RunIdentity, RunOrigin, RuntimeParts } from '../runtime/run-context.ts';
import { createRunFiles } from '../runtime/run-files.ts';
import { type ForkedFrom, ownerOfRun, placeOf, type Segment } from '../runtime/run-record.ts';
import { agentOf, type Cut, equipped, messagesOf, toolsToday } from '../runtime/resume-run.ts';
import type { RunRequest } from '../runtime/run-request.ts';
import { withSettings } from '../runtime/run-settings.ts';
import { openingChunks } from '../runtime/run.ts';
import type { ForkEntry, ForkOptions } from '../runtime/runtime.ts';
import { mayAct } from '../tools/call-ends.ts';

/** Changing these is as changing the record of the agent. */
const ofRecord: ReadonlySet<string> = new Set(['model', 'modelSettings', 'instructions']);

/** Whether the agent of the fork differs from its record. */
export function changesRecord(changed: readonly string[]): boolean {
  return changed.some((name) => ofRecord.has(name));
}

/** Returns the origin of a fork, for the pipeline of runs. It rejects where the caller may not change the agent, or set what the run has set. */
export function forkOrigin(parts: RuntimeParts, plan: ForkPlan, principal: Principal): RunOrigin {
  const { parent: { basis, state }, cut, options: { changes } } = plan;
  let today: Agent | undefined;
  return {
    agent: (found) => {
      if (changesRecord(plan.changed) && !mayChange(principal, found)) {
        throw sharedRecord(`fork the run with another "${plan.changed.join('", "')}" of agent "${found.id}"`);
      }
      if (basis.request.settings) withSettings(found, basis.request.settings, principal);
      today = found;
      return forkAgent(found, basis.agent, changes);
    },
    async resume(resolved, run) {
      const note = await noteOf(plan.parent, cut.step, parts.storage);
      const given = await withTools(parts, plan, { resolved, run, today });
      const limits = limitsOf(minLimits(given.limits, today?.limits), cut);
      const code = changes?.instructions === undefined ? resolved.code : { ...resolved.code, instructions: undefined };
      const edited = editsOf(cut, changes);
      const messages = await messagesOf(parts, { parent: plan.parent, cut, edited }, resolved);
      const resumed = {
        ...given,
        code,
        limits,
        request: withBudget(messages.request, note),
        messages: messages.model,
        continues: state.continues,
      };
      const isExact = plan.changed.length === 0 && note !== undefined &&
        await isSame(parts, note, { plan, resumed, run });
      const { answerId, toModel } = messages;
      const facts = { resolved: resumed, run, note, isExact, edited, answerId, toModel };
      return { ...resumed, resumed: resumedRun(parts, plan, facts) };
    },
  };
}

function forkAgent(today: Agent, recorded: Agent, changes: ForkOptions['changes'] = {}): Agent {
  return {
    ...(changes.agent === 'current' ? today : agentOf(today, recorded)),
    ...(changes.instructions !== undefined && { instructions: changes.instructions }),
    ...(changes.modelSettings && { modelSettings: changes.modelSettings }),
    ...(changes.model && { providerId: changes.model.providerId, model: changes.model.modelId, fallbacks: [] }),
  };
}

/** The tools of the fork: in a dry run those that may act are replaced. */
async function withTools(
  parts: RuntimeParts,
  { parent, cut, effects }: ForkPlan,
  { resolved, run: { principal }, today }: {
    readonly resolved: Resolution;
    readonly run: RunIdentity;
    readonly today: Agent | undefined;
  },
): Promise<Resolution> {
  let toolSet = await toolsToday(parts, resolved, { today, principal });
  if (effects === 'dry') {
    const own = new Set(parts.discovery?.tools);
    const dropped = cut.dropped.map(({ chunk }) => chunk);
    const recorded = recordedOutcomes(dropped, await programOutcomes(parent, dropped, parts.storage));
    const tools = dryTools(toolSet.tools, recorded, (tool) => mayAct(tool.definition) && !own.has(tool));
    toolSet = { ...toolSet, tools };
  }
  return equipped(parts, { basis: parent.basis, cut }, { resolved, toolSet, principal });
}

/** What the shared steps have used is used. @throws PinnaceError `budget_exceeded` where no step is left. */
function limitsOf(limits: Limits, { step, kept }: Cut): Limits {
  const calls = kept.filter(({ chunk }) => chunk.type === 'tool-input-available' && chunk.providerExecuted !== true);
  const steps = limits.steps - (step - 1);
  if (steps < 1) throw stepLimit(limits);
  return { ...limits, steps, toolCalls: limits.toolCalls - calls.length };
}

function withBudget(request: RunRequest, note: StepNote | undefined): RunRequest {
  const { budget } = request;
  if (!budget || !note) return request;
  const { tokens, cost } = budget;
  const left = cost && note.cost ? { ...cost, amount: Math.max(0, cost.amount - note.cost.amount) } : cost;
  return {
    ...request,
    budget: {
      ...budget,
      ...(tokens !== undefined && { tokens: Math.max(1, tokens - note.tokens) }),
      ...(left && { cost: left }),
    },
  };
}

/** The chunks that edit outputs of shared steps, and that add a message behind them. */
function editsOf({ step, kept }: Cut, changes: ForkOptions['changes'] = {}): readonly UIMessageChunk[] {
  const { message, toolOutputs = {} } = changes;
  const known = new Set(kept.flatMap(({ chunk }) => chunk.type === 'tool-input-available' ? [chunk.toolCallId] : []));
  const outputs = Object.entries(toolOutputs).map(([toolCallId, output]): UIMessageChunk => {
    if (!known.has(toolCallId)) throw noSuchCall(toolCallId);
    return { type: 'tool-output-available', toolCallId, output };
  });
  if (!message || step === 1) return outputs;
  const parts = message.parts.filter((part) => part.type === 'text' || part.type === 'file');
  return [...outputs, { type: 'steering-message', id: message.id, parts }];
}

/** Whether the prompt is the one that the parent's model received. */
async function isSame(
  parts: RuntimeParts,
  note: NotedStep,
  { plan: { parent }, resumed, run }: {
    readonly plan: ForkPlan;
    readonly resumed: Resolution;
    readonly run: RunIdentity;
  },
): Promise<boolean> {
  const basis = note.runId === parent.runId ? parent.basis : await readBasis(note.runId, parts.storage);
  if (!basis) return false;
  const { abort: { signal }, principal: owner, span } = run;
  const { agent } = await composeLoop(resumed, {
    principal: owner,
    runId: run.runId,
    report: parts.report,
    abort: run.abort,
  });
  const files = createRunFiles({
    ...parts,
    owner,
    from: ownerOfRun(parent.state).subject,
    signal,
    limits: resumed.limits,
    span,
  });
  const prompt = toPrompt(agent.instructions, await files.load(resumed.messages));
  return await promptDigests(basis.request)(prompt) === note.prompt;
}

function noSuchCall(toolCallId: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot fork the run: no call before this step has the id "${toolCallId.slice(0, 64)}"`,
    { details: { reason: 'no_such_call' } },
  );
}

/** A deeper fork copies what it shares. */
const maxDepth = 8;

type ForkClaim = NonNullable<ResumedRun['claim']>;

interface ForkFacts {
  readonly resolved: Resolution;
  readonly run: RunIdentity;
  readonly note: StepNote | undefined;
  /** Whether it goes on from the very prompt that the parent had. */
  readonly isExact: boolean;
  /** The chunks that show what was changed of the shared steps. */
  readonly edited: readonly UIMessageChunk[];
  readonly answerId: string;
  readonly toModel: ResumedRun['toModel'];
}

/** Returns where the run goes on, with what its claim writes. */
function resumedRun(parts: RuntimeParts, plan: ForkPlan, facts: ForkFacts): ResumedRun {
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
    isEdited: edited.some(({ type }) => type === 'tool-output-available'),
    isExact: facts.isExact,
    answerId: facts.answerId,
    programs: cut.programs,
    toModel,
    claim: {
      ...logOf(parts, plan, facts),
      beside: indexChanges(parts, plan, facts),
    },
  };
}

/** The log: the opening, then the items of the parent, where they are stored; a fork of many forks copies them. */
function logOf(
  { limits: { retentionMs } }: RuntimeParts,
  plan: ForkPlan,
  facts: ForkFacts,
): Pick<ForkClaim, 'state' | 'log'> {
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

function indexChanges(
  { now, ttlMs }: RuntimeParts,
  { parent: { runId: parent }, cut, changed, effects }: ForkPlan,
  { resolved: { request: { chat } }, run: { runId } }: ForkFacts,
): readonly Change[] {
  const value: ForkEntry = { runId, chatId: chat.id, atStep: cut.step, changed, effects, startedAt: now() };
  return [{ key: forkKey(parent, runId), value, ttlMs }];
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
