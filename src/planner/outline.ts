/** Stores large values beside the journal: events refer to them. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { PlanEvent } from './plan-event.ts';
import type { ValueRef } from './run-agent.ts';

/** Values whose JSON text is longer are stored beside the journal, in UTF-16 code units. */
export const inlineLength = 8192;
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
export interface StoredForm {
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
