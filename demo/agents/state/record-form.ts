/** The form of a record: its fields, their errors, and conflicting changes. */

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ErrorData } from '../../../src/base/errors.ts';
import type { RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';
import {
  changedFields,
  type FieldSpec,
  type FieldValues,
  placeIssue,
  valuesOf,
  withFields,
  wrongIn,
} from './record-fields.ts';
import { createLiveCheck } from './live-check.ts';
import { kinds } from './record-forms.ts';

export interface Conflict {
  readonly latest: AnyRecord;
  /** What people call the fields that have changed. */
  readonly changed: readonly string[];
}

/** What a person can choose from in the form. */
export interface Choices {
  readonly providers: readonly string[];
  /** The names of the vault's secrets. */
  readonly secrets: readonly string[];
}

export interface RecordForm {
  readonly kind: RecordKind;
  /** Whether it makes a record. */
  readonly isNew: boolean;
  readonly fields: readonly FieldSpec[];
  readonly choices: ReadonlySignal<Choices>;
  readonly values: ReadonlySignal<FieldValues>;
  /** Errors by field. */
  readonly errors: ReadonlySignal<Readonly<Record<string, string>>>;
  /** How often saving was refused because of a field: the first of them then gets the focus. */
  readonly refusals: ReadonlySignal<number>;
  /** What is wrong besides. */
  readonly problem: ReadonlySignal<string | undefined>;
  readonly conflict: ReadonlySignal<Conflict | undefined>;
  readonly isDirty: ReadonlySignal<boolean>;
  readonly isSaving: ReadonlySignal<boolean>;
  set(field: string, value: string): void;
  /** The record as it is written now, whether or not it could be saved. */
  draft(): object;
  /** Chooses a provider that was made meanwhile. */
  offerProvider(id: string): void;
  /** Writes what was changed. Returns the record as it is now; `undefined`: it was refused, and the form says why. */
  save(): Promise<AnyRecord | undefined>;
  /** After a conflict: takes the latest, without what was changed here. */
  loadLatest(): void;
  /** After a conflict: takes the latest, with what was changed here. */
  keepMine(): void;
}

interface RecordFormOptions {
  readonly kind: RecordKind;
  /** The record that is edited; without one, the form creates one. */
  readonly record?: AnyRecord;
  /** What a new record has at first. */
  readonly preset?: FieldValues;
  readonly choices: Choices;
  /** Says what is wrong with the record, without writing it; checked while the person types. */
  readonly check?: (
    given: { readonly record: object; readonly touched: ReadonlySet<string> },
  ) => Promise<Answer<unknown>>;
  /** Writes the record; `version` is the revision that it must have, of one that is there. */
  readonly write: (record: object, version: number | undefined) => Promise<Answer<AnyRecord>>;
}

export function createRecordForm(options: RecordFormOptions): RecordForm {
  const { kind, record, preset, check, write } = options;
  const choices = signal(options.choices);
  const fields = kinds[kind].fields.filter(({ isFixed }) => !(isFixed && record));
  let base = record;
  const saved = signal<FieldValues>({ ...valuesOf(fields, record), ...preset });
  const values = signal(saved.value);
  const errors = signal<Readonly<Record<string, string>>>({});
  const refusals = signal(0);
  const problem = signal<string | undefined>(undefined);
  const conflict = signal<Conflict | undefined>(undefined);
  const isSaving = signal(false);
  const changed = computed(() => changedFields(fields, saved.value, values.value));
  /** Fields that the person has written in since the last save: others are not called wrong before they are filled in. */
  const touched = new Set<string>();
  const draft = (): object => withFields(base ?? {}, base ? changed.value : fields, values.value);
  const live = check && createLiveCheck({ check: () => check({ record: draft(), touched }), onAnswer: showLive });

  /** Shows what is wrong in the fields that were written in, beside what saving has found in others. */
  function showLive(answer: Answer<unknown>): void {
    if (!answer.ok && answer.error.code !== 'invalid_argument' && answer.error.code !== 'conflict') return;
    const found = answer.ok ? [] : placed(answer.error);
    const others = Object.entries(errors.value).filter(([field]) => !touched.has(field));
    errors.value = Object.fromEntries([
      ...others,
      ...found.filter(({ field }) => touched.has(field)).toReversed().map(({ field, text }) => [field, text]),
    ]);
  }

  const placed = (error: ErrorData): readonly { readonly field: string; readonly text: string }[] =>
    issuesOf(error).flatMap((issue) => placeIssue(issue, fields, values.value) ?? []);

  function rebase(latest: AnyRecord, mine: readonly FieldSpec[]): void {
    base = latest;
    touched.clear();
    live?.cancel();
    batch(() => {
      const stored = mine.map(({ name }) => [name, values.value[name] ?? '']);
      saved.value = valuesOf(fields, latest);
      values.value = { ...saved.value, ...Object.fromEntries(stored) };
      conflict.value = undefined;
      errors.value = {};
      problem.value = undefined;
    });
  }

  function refuse(error: ErrorData): void {
    const latest = error.details?.['latest'] as AnyRecord | undefined; // the registry's own record
    if (latest) {
      const now = base ? changedFields(fields, valuesOf(fields, base), valuesOf(fields, latest)) : [];
      conflict.value = { latest, changed: now.map(({ label }) => label) };
      return;
    }
    const issues = placed(error);
    // Only the first issue of a field is shown.
    errors.value = Object.fromEntries(issues.toReversed().map(({ field, text }) => [field, text]));
    if (issues.length > 0) refusals.value++;
    problem.value = issues.length > 0 ? undefined : `${error.message}.`;
  }

  function set(field: string, value: string): void {
    const named = kind === 'mcpServer' && !record && field === 'url' ? namedBy(value) : {};
    const untouched = Object.entries(named).filter(([name]) => !touched.has(name));
    values.value = { ...values.value, ...Object.fromEntries(untouched), [field]: value };
    touched.add(field);
    live?.schedule();
    if (errors.value[field] === undefined) return;
    const { [field]: _, ...others } = errors.value;
    errors.value = others;
  }

  return {
    kind,
    isNew: record === undefined,
    fields,
    choices,
    values,
    errors,
    refusals,
    problem,
    conflict,
    isDirty: computed(() => changed.value.length > 0),
    isSaving,
    set,
    draft,
    offerProvider(id) {
      choices.value = { ...choices.value, providers: [...choices.value.providers, id] };
      set('providerId', id);
    },
    async save() {
      live?.cancel();
      problem.value = undefined;
      errors.value = wrongFields(fields, values.value);
      if (Object.keys(errors.value).length > 0) {
        refusals.value++;
        return undefined;
      }
      isSaving.value = true;
      const answer = await write(draft(), base?.revision).catch(unreachable);
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

/** The id and the name of a server, by its address: `https://mcp.linear.app/mcp` is `linear`. */
function namedBy(url: string): FieldValues {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return {};
  const labels = parsed.hostname.split('.').filter((label) => !/^(?:www|mcp|api)$/.test(label));
  const own = /^[\d.]+$|^\[/.test(parsed.hostname) || parsed.hostname === 'localhost'
    ? `local-${parsed.port || '80'}`
    : labels.at(-2) ?? labels[0] ?? 'server';
  const name = own.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-').replace(/^-+/, '').slice(0, 24) || 'server';
  return { id: name, alias: name };
}

/** The errors that are found without the registry, by field. */
function wrongFields(fields: readonly FieldSpec[], values: FieldValues): Readonly<Record<string, string>> {
  return Object.fromEntries(fields.flatMap((field) => {
    const why = wrongIn(field, values[field.name] ?? '');
    return why === undefined ? [] : [[field.name, why]];
  }));
}

/** Where the registry says so by a reason alone, the field that it is about. */
const fieldsByReason: Readonly<Record<string, { readonly path: string; readonly message: string }>> = {
  already_exists: { path: 'id', message: 'is taken' },
  alias_taken: { path: 'alias', message: 'is taken by another server' },
};

function issuesOf({ details }: ErrorData): readonly { readonly path: string; readonly message: string }[] {
  const known = fieldsByReason[String(details?.['reason'])];
  return known ? [known] : (details?.['issues'] ?? []) as readonly { path: string; message: string }[]; // as `parse` returns them
}

/** The worker has ended. */
function unreachable(): Answer<never> {
  return { ok: false, error: { code: 'unavailable', message: 'The registry did not respond', retryable: true } };
}
