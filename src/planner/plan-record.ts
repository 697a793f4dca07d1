/** The stored records of a plan, and their keys. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { type JournalHead, readItems, readJournal } from '../log/journal-record.ts';
import { reach } from '../permission/ownership.ts';
import { isApproval, type PlanEvent } from './plan-event.ts';
import type { PlanPhase } from './plan-state.ts';
import type { ValueRef } from './run-agent.ts';

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
  /** When an instance must continue the plan, which has no owner until then; its key in the index of due times. */
  readonly dueAt?: number;
  /** How often the plan has lost its instance since it has recorded this event. */
  readonly losses?: { readonly count: number; readonly seq: number };
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

/** Values whose JSON text is longer are stored beside the journal, in UTF-16 code units. */
const inlineLength = 8192;
/** The longest value: a storage takes 4 MiB, and a code unit may take two bytes. */
const mostLength = 2_000_000;
const previewLength = 200;

/** The field of an event that may be large. */
const largeFields: Readonly<Partial<Record<PlanEvent['type'], string>>> = {
  'run.created': 'context',
  'agent.created': 'context',
  'msg.sent': 'body',
  'step.done': 'memory',
  'call.done': 'output',
  'ask.answered': 'answer',
  'agent.done': 'result',
  'run.done': 'result',
};

/** The stored form of an event. */
interface StoredForm {
  readonly event: PlanEvent;
  /** Its JSON text. */
  readonly text: string;
  /** The values beside it. */
  readonly changes: readonly Change[];
}

/** Stores the large values of a plan. */
export interface Outliner {
  /**
   * Returns the stored form of an event, which readers of the journal receive.
   *
   * @throws PinnaceError `internal` with the reason `output_not_json`, `budget_exceeded` with `output_too_large`.
   */
  keep(event: PlanEvent): StoredForm;
  /** The same with large values inside: a commit takes a limited number of changes. */
  keepWhole(event: PlanEvent): StoredForm;
}

/** Creates an outliner. `owner` is unique among the owners of the plan. */
export function createOutliner({ planId, owner, ttlMs }: { planId: string; owner: string; ttlMs: number }): Outliner {
  let count = 0;
  return {
    keep(event) {
      const text = toText(event);
      if (event.type === 'ask.answered' && isApproval(event.answer)) return whole(event, text); // its input is read with it
      if (text.length <= inlineLength) return storedForm(event, text, noChanges);
      const field = largeFields[event.type];
      const own = field === undefined ? '' : toText(valueOf(event, field) ?? null);
      if (field === undefined || own.length <= inlineLength) return whole(event, text);
      if (own.length > mostLength) throw tooLarge();
      const name = `${owner}.${++count}`;
      const ref: ValueRef = { name, length: own.length, preview: preview(own) };
      const shown = { ...event, [field]: ref, refs: [...event.refs ?? [], field] } as PlanEvent; // a field may hold a reference
      return whole(shown, toText(shown), [{ key: valueKey(planId, name), value: own, ttlMs }]);
    },
    keepWhole: (event) => whole(event, toText(event)),
  };
}

/**
 * Reads a value beside the journal.
 *
 * @throws PinnaceError `not_found` when the plan has none of this name.
 */
export async function readValue(storage: Storage, planId: string, { name }: ValueRef): Promise<unknown> {
  const entry = await storage.get(valueKey(planId, name));
  if (!entry) throw new PinnaceError('not_found', `Cannot read the value "${name}" of the plan: there is none`);
  return JSON.parse(entry.value as string); // only this module writes it
}

function valueKey(planId: string, name: string): Key {
  return ['plan', planId, 'b', name];
}

const noChanges: readonly Change[] = [];

/** An event with an object of its caller is read back from its text: the caller may change the object. */
function storedForm(event: PlanEvent, text: string, changes: readonly Change[]): StoredForm {
  return { event: hasObject(event) ? parsed(text) : event, text, changes };
}

function hasObject(event: PlanEvent): boolean {
  const field = largeFields[event.type];
  const value = field === undefined ? undefined : valueOf(event, field);
  return typeof value === 'object' && value !== null;
}

/** The value in a field of an event; `undefined` where the field holds a reference. */
function valueOf(event: PlanEvent, field: string): unknown {
  return event.refs?.includes(field) === true ? undefined : (event as unknown as Record<string, unknown>)[field];
}

function whole(event: PlanEvent, text: string, changes = noChanges): StoredForm {
  if (text.length > mostLength) throw tooLarge();
  return storedForm(event, text, changes);
}

function parsed(text: string): PlanEvent {
  return JSON.parse(text) as PlanEvent; // just written
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new PinnaceError('internal', 'Cannot store the result of an activity: it is not JSON', {
      cause,
      details: { reason: 'output_not_json' },
    });
  }
}

function preview(text: string): string {
  return text.slice(0, previewLength).toWellFormed();
}

function tooLarge(): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    `Cannot store the result of an activity: its JSON text is longer than ${mostLength} characters`,
    {
      details: { reason: 'output_too_large' },
    },
  );
}
