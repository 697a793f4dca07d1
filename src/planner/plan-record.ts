/** The stored records of a plan, and their keys. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { type JournalHead, readItems, readJournal } from '../log/journal-record.ts';
import { reach } from '../permission/ownership.ts';
import type { PlanEvent } from './plan-event.ts';
import type { PlanPhase } from './plan-state.ts';

/** The state of a plan, in the head of its journal. `waiting`: it has no owner, because there is nothing to run. */
export interface PlanHead {
  readonly status: 'running' | 'waiting' | Exclude<PlanPhase, 'new' | 'running'>;
  readonly tenant: string;
  /** The subject that the plan works for; absent in plans of earlier versions. */
  readonly subject?: string;
  /** Who has started it for the subject, where that is another. */
  readonly actor?: string;
  /** The agent that the plan was started with, where it names one. */
  readonly agentId?: string;
  readonly traceId: string;
  readonly goal: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When an instance must check the plan; its key in the index of due times. */
  readonly dueAt?: number;
}

/** Input from outside, for the owner of the plan. */
export type InboundItem =
  | { readonly type: 'answer'; readonly ask: string; readonly by: string; readonly answer: unknown }
  | { readonly type: 'cancel'; readonly target: string; readonly by: string; readonly reason: string }
  | { readonly type: 'pause' | 'resume'; readonly by: string };

/** The keys of one plan. */
export function planPrefix(planId: string): Key {
  return ['plan', planId];
}

/** Where one thing from outside is put. */
export function inboundKey(planId: string, id: string): Key {
  return ['plan', planId, 'in', id];
}

/** The facts of an open question, for the person who answers it. */
export function askKey(planId: string, ask: string): Key {
  return ['plan', planId, 'ask', ask];
}

/** Changes with everything that is put there. */
export function bellKey(planId: string): Key {
  return ['plan', planId, 'bell'];
}

/** The index of plans by due time. */
const duePrefix: Key = ['plan-due'];

/** Where the index has a plan. */
export function dueKey(dueAt: number, planId: string): Key {
  return [...duePrefix, dueAt, planId];
}

/** What has come to a plan from outside, and the changes that remove it there. */
export interface Inbound {
  readonly items: readonly InboundItem[];
  readonly taken: readonly Change[];
}

/** Nothing has come. */
export const noInbound: Inbound = { items: [], taken: [] };

/** Reads what has come, in the order of its ids. */
export async function readInbound(storage: Storage, planId: string): Promise<Inbound> {
  const entries = await storage.list({ prefix: ['plan', planId, 'in'], limit: 60 });
  return {
    items: entries.map(({ value }) => value as InboundItem), // only this room writes it
    taken: entries.map(({ key }) => ({ key })),
  };
}

/** Whether the plan has ended. */
export function isOver({ status }: PlanHead): boolean {
  return status !== 'running' && status !== 'waiting';
}

/** Reads the head of a plan that the principal reaches. @throws PinnaceError `not_found`. */
export async function readPlan(
  storage: Storage,
  planId: string,
  principal: Principal,
): Promise<JournalHead<PlanHead>> {
  const found = planId.length > 64 ? undefined : await readJournal<PlanHead>(storage, planPrefix(planId));
  if (!found || !reach(principal, found.head.state)) throw notFound();
  return found.head;
}

function notFound(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot find the plan: it is unknown, or its records have expired', {
    details: { reason: 'plan_not_found' },
  });
}

/** Reads the events behind `after`, some at a time; none when there are no more for now. */
export async function readPlanEvents(
  storage: Storage,
  planId: string,
  after: number,
): Promise<readonly { readonly seq: number; readonly event: PlanEvent }[]> {
  const items = await readItems(storage, planPrefix(planId), after);
  // One text is read faster than a thousand. Written by this module's room alone.
  const events = JSON.parse(`[${items.map(({ item }) => item).join(',')}]`) as readonly PlanEvent[];
  return events.map((event, i) => ({ seq: items[i]?.seq ?? 0, event })); // as many as items
}

/** The plans whose time has come, the first of them first; at most a thousand at a time. */
export async function duePlans(storage: Storage, now: number): Promise<readonly string[]> {
  const entries = await storage.list({ prefix: duePrefix, limit: 1000 });
  return entries.filter(({ key }) => Number(key[1]) <= now).map(({ value }) => value as string); // written with the head
}
