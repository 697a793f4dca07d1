/** The form that changes an agent: its fields, what is wrong with them, and what somebody else has changed meanwhile. */

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ErrorData } from '../../src/errors.ts';
import type { Agent, Patch } from '../../src/index.ts';
import type { Answer } from '../registry/control.ts';
import {
  changedFields,
  type FieldName,
  type FieldValues,
  labelOf,
  patchOf,
  placeIssue,
  valuesOf,
} from './agent-fields.ts';

/** Somebody else was faster. */
export interface Conflict {
  readonly latest: Agent;
  /** What people call the fields that have changed. */
  readonly changed: readonly string[];
}

/** The form. */
export interface AgentForm {
  readonly values: ReadonlySignal<FieldValues>;
  /** What is wrong, by the field that it stands beside. */
  readonly errors: ReadonlySignal<Readonly<Partial<Record<FieldName, string>>>>;
  /** What is wrong besides. */
  readonly problem: ReadonlySignal<string | undefined>;
  readonly conflict: ReadonlySignal<Conflict | undefined>;
  readonly isDirty: ReadonlySignal<boolean>;
  readonly isSaving: ReadonlySignal<boolean>;
  set(field: FieldName, value: string): void;
  /** Writes what was changed. Gives the agent as it is now; `undefined`: it was refused, and the form says why. */
  save(): Promise<Agent | undefined>;
  /** After a conflict: takes the latest, without what was changed here. */
  loadLatest(): void;
  /** After a conflict: takes the latest, with what was changed here. */
  keepMine(): void;
}

interface AgentFormOptions {
  readonly agent: Agent;
  readonly update: (patch: Patch<'agent'>, version: number) => Promise<Answer<Agent>>;
}

/** Gives the form of an agent as the person sees it. */
export function createAgentForm({ agent, update }: AgentFormOptions): AgentForm {
  let base = agent;
  const saved = signal(valuesOf(agent));
  const values = signal(saved.value);
  const errors = signal<Partial<Record<FieldName, string>>>({});
  const problem = signal<string | undefined>(undefined);
  const conflict = signal<Conflict | undefined>(undefined);
  const isSaving = signal(false);
  const changed = computed(() => changedFields(saved.value, values.value));

  function rebase(latest: Agent, mine: readonly FieldName[]): void {
    base = latest;
    batch(() => {
      const kept = mine.map((field) => [field, values.value[field]]);
      saved.value = valuesOf(latest);
      values.value = { ...saved.value, ...Object.fromEntries(kept) };
      conflict.value = undefined;
      errors.value = {};
      problem.value = undefined;
    });
  }

  function refuse(error: ErrorData): void {
    const latest = error.details?.['latest'] as Agent | undefined; // the registry's own record
    if (latest) {
      conflict.value = { latest, changed: changedFields(valuesOf(base), valuesOf(latest)).map(labelOf) };
      return;
    }
    const issues = (error.details?.['issues'] ?? []) as readonly { path: string; message: string }[]; // as `parse` gives them
    const placed = issues.flatMap((issue) => placeIssue(issue, values.value) ?? []);
    // The first issue of a field is the one that is told.
    errors.value = Object.fromEntries(placed.toReversed().map(({ field, text }) => [field, text]));
    problem.value = placed.length > 0 ? undefined : `${error.message}.`;
  }

  return {
    values,
    errors,
    problem,
    conflict,
    isDirty: computed(() => changed.value.length > 0),
    isSaving,
    set(field, value) {
      values.value = { ...values.value, [field]: value };
      if (errors.value[field] === undefined) return;
      const { [field]: _, ...others } = errors.value;
      errors.value = others;
    },
    async save() {
      isSaving.value = true;
      problem.value = undefined;
      const answer = await update(patchOf(values.value, changed.value), base.revision).catch(unreachable);
      isSaving.value = false;
      if (!answer.ok) {
        refuse(answer.error);
        return undefined;
      }
      rebase(answer.value, []);
      return answer.value;
    },
    loadLatest() {
      if (conflict.value) rebase(conflict.value.latest, []);
    },
    keepMine() {
      if (conflict.value) rebase(conflict.value.latest, changed.value);
    },
  };
}

/** The worker has gone. */
function unreachable(): Answer<never> {
  return { ok: false, error: { code: 'unavailable', message: 'The registry does not answer', retryable: true } };
}
