/** Creates the journal of a new plan, and takes over existing ones. */

import { fromData, PinnaceError } from '../base/errors.ts';
import { creation, readJournal, takeOver } from '../log/journal-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Label } from '../permission/label.ts';
import { haveOneOwner } from '../permission/ownership.ts';
import { commitOwn } from '../log/commits.ts';
import { dueChange } from '../log/due.ts';
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
  { storage, limits, now }: PlanHost,
  founding: Founding,
): Promise<OwnedPlan | { readonly known: string }> {
  const known = await findKnown(storage, founding);
  if (known !== undefined) return { known };
  const { owner, terms } = founding;
  const planId = `plan_${crypto.randomUUID().replaceAll('-', '')}`;
  const [at, ttlMs] = [now(), limits.retentionMs];
  const state = createPlanState();
  const { events, texts, changes } = await firstEvents(founding, { planId, at, limits, state });
  const dueAt = at + limits.leaseMs;
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
    dueAt,
  };
  const created = creation(planPrefix(planId), { state: headState, at, ttlMs, items: texts });
  const founded = [
    ...created.changes,
    ...changes,
    dueChange({ at: dueAt, id: planId, tenant: owner.tenant }, ttlMs),
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

/** Takes over a plan that waits or whose owner was lost; `undefined` when it cannot be taken over. */
export async function claimPlan(
  planId: string,
  { storage, limits, now }: PlanHost,
): Promise<OwnedPlan | undefined> {
  const taken = await takeOver<PlanHead>({
    storage,
    prefix: planPrefix(planId),
    now,
    ttlMs: limits.retentionMs,
    when: ({ at, state }) => state.status === 'waiting' || (state.status === 'running' && now() - at >= limits.leaseMs),
  });
  if (!taken) return undefined;
  const { state, snapshot } = await readState(storage, planId);
  return { planId, ...taken, state, events: [], snapshot, inbound: await readInbound(storage, planId) };
}
