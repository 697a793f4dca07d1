/** Creates the journal of a new plan, and takes over existing ones. */

import { fromData, PinnaceError } from '../base/errors.ts';
import { creation, type JournalHead, readJournal, takeOver } from '../log/journal-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Label } from '../permission/label.ts';
import { haveOneOwner } from '../permission/ownership.ts';
import { commitOwn } from '../log/commits.ts';
import { dueChange, dueKey, earlierDueKey } from '../log/due.ts';
import { type LeftInstance, ownedKey } from '../log/instances.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { Task } from './action.ts';
import { create } from './carry-out.ts';
import { Draft } from './draft.ts';
import { createOutliner, noInbound, type PlanHead, planPrefix, readInbound } from './plan-record.ts';
import { eventVersion } from './plan-event.ts';
import type { PlanHost } from './plan-host.ts';
import type { OwnedPlan } from './plan-journal.ts';
import type { PlanLimits } from './plan-limits.ts';
import type { PlanTerms } from './plan-request.ts';
import { type AgentState, createPlanState, type PlanState, rootOf } from './plan-state.ts';
import { readState } from './snapshots.ts';
import type { PlanOwner } from './run-agent.ts';
import { sha256 } from '../base/hash.ts';
import { createSlices } from '../base/turns.ts';

/** A new plan. */
export interface Founding {
  readonly owner: PlanOwner;
  readonly terms: PlanTerms;
  readonly tasks: readonly Task[];
  /** The caller's key and its request. */
  readonly idempotency: { readonly key: string; readonly request: unknown } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Who has said the request, and who may read it. */
  readonly read: Label;
}

/** Creates a plan with its first agent and the given tasks in one commit, or returns the id of a known key. */
export async function foundPlan(
  { storage, limits, now, instances }: PlanHost,
  founding: Founding,
): Promise<OwnedPlan | { readonly known: string }> {
  const known = await findKnown(storage, founding);
  if (known !== undefined) return { known };
  const { owner, terms } = founding;
  const planId = `plan_${crypto.randomUUID().replaceAll('-', '')}`;
  const [at, ttlMs] = [now(), limits.retentionMs];
  const state = createPlanState();
  const { events, texts, changes } = await firstEvents(founding, { planId, at, limits, state });
  const { traceId, goal, agentId } = terms;
  const headState: PlanHead = {
    status: 'running',
    tenant: owner.tenant,
    subject: owner.subject,
    ...(owner.actor !== undefined && { actor: owner.actor }),
    ...(agentId !== undefined && { agentId }),
    traceId,
    goal: goal.slice(0, 200).toWellFormed(),
    startedAt: at,
  };
  const instance = instances.id;
  const created = creation(planPrefix(planId), { state: headState, at, ttlMs, items: texts, instance });
  const founded = [
    ...created.changes,
    ...changes,
    { key: ownedKey(instance, planId), value: true, ttlMs },
    ...instances.join(planId),
    ...await keyChanges(founding, { planId, ttlMs }),
  ];
  // Only this call uses the id: a head under it shows that everything was written.
  const written = async () => (await readJournal(storage, planPrefix(planId)))?.version;
  const result = await commitOwn(storage, founded, { written, graceMs: limits.storageGraceMs });
  if (result.ok) {
    return {
      planId,
      head: created.head,
      version: result.version,
      state,
      events,
      snapshot: undefined,
      inbound: noInbound,
    };
  }
  const faster = await findKnown(storage, founding);
  if (faster !== undefined) return { known: faster };
  throw new PinnaceError('internal', 'Cannot create the plan: its id is taken');
}

async function firstEvents(
  { owner, terms, tasks, read, signal }: Founding,
  { planId, at, limits, state }: { planId: string; at: number; limits: PlanLimits; state: PlanState },
): Promise<Draft> {
  const { context, goal, agentId, role, constraints, ...rest } = terms;
  const outliner = createOutliner({ planId, owner: '1', ttlMs: limits.retentionMs });
  const { maxDepth, stallAfter, allowHumanIntervention: allowHuman } = terms;
  const draft = new Draft(state, { at, outliner, settings: { allowHuman, maxDepth, stallAfter, askMs: limits.askMs } });
  const named = {
    ...(agentId !== undefined && { agentId }),
    ...(role !== undefined && { role }),
    ...(constraints !== undefined && { constraints }),
  };
  draft.add({ type: 'run.created', v: eventVersion, planId, owner, terms: { ...rest, goal, ...named }, read });
  draft.add({ type: 'agent.created', id: '1', goal, ...(context.length > 0 && { context }), ...named });
  const root = rootOf(state);
  const slices = createSlices(signal);
  if (!root) return draft;
  for (const task of tasks) {
    createTask(draft, root, task);
    await slices.next(10 + task.after.length);
  }
  return draft;
}

function createTask(draft: Draft, root: AgentState, task: Task): void {
  const done = create(draft, root, task);
  if (done && 'error' in done) throw fromData(done.error);
}

interface KeyRecord {
  readonly planId: string;
  /** SHA-256 of the request. */
  readonly fingerprint: string;
}

function idempotencyKey({ tenant, subject }: PlanOwner, key: string): Key {
  return ['plan-key', tenant, subject, key];
}

async function findKnown(storage: Storage, { owner, idempotency }: Founding): Promise<string | undefined> {
  if (!idempotency) return undefined;
  // Version 0.2 recorded keys for all subjects of a tenant.
  const [entry, shared] = await Promise.all([
    storage.get(idempotencyKey(owner, idempotency.key)),
    storage.get(['plan-key', owner.tenant, idempotency.key]),
  ]);
  const found = entry ?? shared;
  if (!found) return undefined;
  const { planId, fingerprint } = found.value as KeyRecord; // only this module writes it
  const isSame = fingerprint === await sha256(canonicalJson(idempotency.request));
  const isOwn = entry !== undefined || await isOf(owner, planId, storage);
  if (isOwn && isSame) return planId;
  if (!isOwn && !isSame) return undefined;
  throw new PinnaceError(
    'idempotency_key_reused',
    'Cannot start the plan: its idempotency key was used for another request; use a new key',
  );
}

async function isOf(owner: PlanOwner, planId: string, storage: Storage): Promise<boolean> {
  const state = (await readJournal<PlanHead>(storage, planPrefix(planId)))?.head.state;
  return state !== undefined && haveOneOwner(owner, state);
}

async function keyChanges(
  { owner, idempotency }: Founding,
  { planId, ttlMs }: { planId: string; ttlMs: number },
): Promise<readonly Change[]> {
  if (!idempotency) return [];
  const record: KeyRecord = { planId, fingerprint: await sha256(canonicalJson(idempotency.request)) };
  return [{ key: idempotencyKey(owner, idempotency.key), value: record, ifVersion: null, ttlMs }];
}

/** A plan of version 0.2 names no instance: without a commit for this long, its owner is lost. */
const silentMs = 30_000;
/** A plan that loses its instance again, without an event between, may be the cause: it waits for so long, then for longer. */
const pauseMs = 30_000;
const longestPauseMs = 600_000;

/** Takes over a plan that waits, or that another instance has left; `undefined` when it cannot be taken over, or must wait. */
export async function claimPlan(
  planId: string,
  { storage, limits, now, instances, arm }: PlanHost,
  left?: LeftInstance,
): Promise<OwnedPlan | undefined> {
  const { retentionMs: ttlMs } = limits;
  const prefix = planPrefix(planId);
  const found = (await readJournal<PlanHead>(storage, prefix))?.head;
  if (!found || !isFree(found, { left, now })) return undefined;
  const { fence, state: { tenant, dueAt: before } } = found;
  const taking = { storage, prefix, now, ttlMs, when: (head: JournalHead<PlanHead>): boolean => head.fence === fence };
  const changes = [
    ...left?.checks ?? [],
    ...left && left.id !== instances.id ? [{ key: ownedKey(left.id, planId) }] : [],
    ...before === undefined ? [] : [{ key: dueKey(before, planId) }, { key: earlierDueKey(before, planId) }],
  ];
  const losses = left?.cause === 'dead' ? lossesOf(found) : undefined;
  if (losses && losses.count > 1) {
    const dueAt = now() + Math.min(longestPauseMs, pauseMs * 2 ** (losses.count - 2));
    const paused = [...changes, dueChange({ at: dueAt, id: planId, tenant }, ttlMs)];
    const next = (state: PlanHead): PlanHead => ({ ...state, losses, status: 'waiting', dueAt });
    if (await takeOver<PlanHead>({ ...taking, next, changes: paused })) arm(dueAt);
    return undefined;
  }
  const taken = await takeOver<PlanHead>({
    ...taking,
    instance: instances.id,
    next: ({ dueAt: _, ...state }) => ({ ...state, status: 'running', ...(losses && { losses }) }),
    changes: [...changes, { key: ownedKey(instances.id, planId), value: true, ttlMs }, ...instances.join(planId)],
  });
  if (!taken) return undefined;
  const { state, snapshot } = await readState(storage, planId);
  return { planId, ...taken, state, events: [], snapshot, inbound: await readInbound(storage, planId) };
}

function isFree(
  { at, instance, state: { status } }: JournalHead<PlanHead>,
  { left, now }: { readonly left: LeftInstance | undefined; readonly now: () => number },
): boolean {
  if (left) return status === 'running' && instance === left.id;
  return status === 'waiting' || (status === 'running' && instance === undefined && now() - at >= silentMs);
}

/** The losses of the plan, with this one. */
function lossesOf({ seq, state: { losses } }: JournalHead<PlanHead>): NonNullable<PlanHead['losses']> {
  return { seq, count: losses?.seq === seq ? losses.count + 1 : 1 };
}
