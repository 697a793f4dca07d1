/** A record as a form has it: every field a text, and back again. What the fields of a kind are, `record-forms.ts` says. */

import { asArray, isRecord } from '../../../src/base/is-record.ts';
import type { AnyRecord } from '../../control/registry-control.ts';

type FieldType =
  | 'text'
  | 'identifier'
  | 'optional'
  | 'area'
  | 'number'
  | 'commas'
  | 'words'
  | 'lines'
  | 'choice'
  | 'flag'
  | 'secret'
  | 'secrets'
  | 'allowedSecrets'
  | 'allowedLines'
  | 'selections'
  | 'models'
  | 'json';

export interface FieldSpec {
  /** Its place in the record: `limits.steps`. */
  readonly name: string;
  readonly label: string;
  readonly as: FieldType;
  readonly help?: string;
  /** What a new record has there. */
  readonly initial?: string;
  readonly rows?: number;
  /** What a choice offers. */
  readonly options?: readonly string[];
  /** What people read of an option; without it, the option itself. */
  readonly words?: Readonly<Record<string, string>>;
  /** What an empty choice means. */
  readonly empty?: string;
  /** The heading above this field and its neighbors. */
  readonly group?: string;
  /** It has a place of its own on the record's page. */
  readonly isShownApart?: boolean;
  /** It can be set once: with the registration. */
  readonly isFixed?: boolean;
  /** What an empty field stands for. */
  readonly placeholder?: string;
  /** The place of the record that exists with this field alone: empty, there is none. */
  readonly owns?: string;
  /** Whether its JSON is a list instead of an object. */
  readonly isList?: boolean;
}

/** The values of the fields, by name. */
export type FieldValues = Readonly<Record<string, string>>;

/** How a value is shown, and what a text means. */
interface Codec {
  readonly read: (value: unknown) => string;
  /** `undefined`: the record has no such field. */
  readonly write: (text: string) => unknown;
}

const text: Codec = { read: (value) => typeof value === 'string' ? value : '', write: (written) => written };
const optional: Codec = { ...text, write: (written) => written.trim() === '' ? undefined : written.trim() };
const lines: Codec = { read: (value) => asArray(value).join('\n'), write: (written) => entriesOf(written, /[\s,]+/) };

/** “Get the weather” -> `get_the_weather`; what is an identifier already stays as it is. */
const identifier: Codec = {
  ...text,
  write: (written) =>
    /^[\w-]*$/.test(written)
      ? written
      : written.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '_')
        .replaceAll(/^_+|_+$/g, ''),
};

const secrets: Codec = {
  read: (value) => asArray(value).map(idOf).join('\n'),
  write: (written) => entriesOf(written, /[\s,]+/).map((id) => ({ id })),
};

/** An empty list allows none, and no list leaves it to the tools: “-” distinguishes them. */
function allowed({ read, write }: Codec): Codec {
  return {
    read: (value) => Array.isArray(value) && value.length === 0 ? none : read(value),
    write(written) {
      if (written.trim() === '') return undefined;
      return written.trim() === none ? [] : write(written);
    },
  };
}
const none = '-';

/** A line for each: the provider, and behind a colon the model. “-” is an empty list. */
const models = allowed({
  read: (value) => asArray(value).map(modelText).join('\n'),
  write: (written) =>
    entriesOf(written, /[\n]+/).map((line) => {
      const [, providerId = '', model = ''] = /^([^:]*):?(.*)$/.exec(line) ?? [];
      return { providerId: providerId.trim(), ...(model.trim() !== '' && { model: model.trim() }) };
    }),
});

function modelText(value: unknown): string {
  const { providerId, model } = value as { readonly providerId: string; readonly model?: string }; // of an agent's record
  return model === undefined ? providerId : `${providerId}: ${model}`;
}

const codecs: Readonly<Record<FieldType, Codec>> = {
  text,
  identifier,
  optional,
  area: text,
  choice: optional,
  number: {
    read: (value) => typeof value === 'number' ? String(value) : '',
    // What is no number goes as it is: the registry says what is wrong with it.
    write: (written) =>
      written.trim() === '' ? undefined : Number.isFinite(Number(written)) ? Number(written) : written,
  },
  commas: { read: (value) => asArray(value).join(', '), write: (written) => entriesOf(written, /[,\n]/) },
  lines,
  words: {
    read: (value) => asArray(value).join(' '),
    write: (written) => written.trim() === '' ? undefined : entriesOf(written, /\s+/),
  },
  flag: { read: (value) => value === true ? 'yes' : 'no', write: (written) => written === 'yes' },
  secret: {
    read: (value) => idOf(value),
    write: (written) => written === '' ? undefined : { id: written },
  },
  secrets,
  allowedSecrets: allowed(secrets),
  allowedLines: allowed(lines),
  models,
  selections: { read: readSelections, write: writeSelections },
  json: {
    read: (value) => value === undefined ? '' : JSON.stringify(value, null, 2),
    write: (written) => written.trim() === '' ? undefined : readJson(written) ?? written,
  },
};

/** Returns a record's field values; without a record, the defaults. */
export function valuesOf(fields: readonly FieldSpec[], record: AnyRecord | undefined): FieldValues {
  return Object.fromEntries(fields.map(({ name, as, initial = '' }) => [
    name,
    record ? codecs[as].read(valueAt(record, name)) : initial,
  ]));
}

/** The fields whose values differ. */
export function changedFields(
  fields: readonly FieldSpec[],
  from: FieldValues,
  to: FieldValues,
): readonly FieldSpec[] {
  return fields.filter(({ name }) => from[name] !== to[name]);
}

/** Returns the record with what was written into these fields. */
export function withFields(record: object, fields: readonly FieldSpec[], values: FieldValues): object {
  const next = structuredClone(record);
  for (const { name, as } of fields) setAt(next, name.split('.'), codecs[as].write(values[name] ?? ''));
  for (const { name, owns } of fields) {
    if (owns !== undefined && valueAt(next, name) === undefined) setAt(next, owns.split('.'), undefined);
  }
  return next;
}

/** Errors that are found without the registry. */
export function wrongIn({ as, label, isList = false }: FieldSpec, written: string): string | undefined {
  if (as !== 'json' || written.trim() === '') return undefined;
  const value = readJson(written);
  if (value !== undefined && Array.isArray(value) === isList) return undefined;
  return `${label} must be JSON, ${isList ? 'a list' : 'an object'}.`;
}

/** The field that an issue is about, and what to say beside it; `undefined` where no field shows it. */
export function placeIssue(
  { path, message }: { readonly path: string; readonly message: string },
  fields: readonly FieldSpec[],
  values: FieldValues,
): { readonly field: string; readonly text: string } | undefined {
  const field = fields.find(({ name }) => path === name || path.startsWith(`${name}.`));
  if (!field) return undefined;
  const written = codecs[field.as].write(values[field.name] ?? '');
  const rest = path.slice(field.name.length + 1);
  const entry = Array.isArray(written) ? nameOf(written[Number(rest.split('.', 1)[0])]) : undefined;
  const what = entry === undefined ? field.as === 'json' && rest !== '' ? `“${rest}”` : field.label : `“${entry}”`;
  return { field: field.name, text: `${what} ${message}.` };
}

/** Returns the value at a place of a record. */
function valueAt(record: object, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) value = isRecord(value) ? value[name] : undefined;
  return value;
}

function setAt(record: object, [name = '', ...rest]: readonly string[], value: unknown): void {
  const fields = record as Record<string, unknown>; // a record is data
  if (rest.length === 0) {
    if (value === undefined) delete fields[name];
    else fields[name] = value;
    return;
  }
  if (!isRecord(fields[name]) && value === undefined) return;
  if (!isRecord(fields[name])) fields[name] = {};
  setAt(fields[name] as object, rest, value); // safe: just checked
}

function idOf(value: unknown): string {
  return isRecord(value) && typeof value['id'] === 'string' ? value['id'] : '';
}

function nameOf(entry: unknown): string | undefined {
  return typeof entry === 'string' ? entry : isRecord(entry) ? idOf(entry) : undefined;
}

function entriesOf(written: string, separator: RegExp): readonly string[] {
  return written.split(separator).map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function readJson(written: string): object | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return isRecord(value) || Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a line for each server: its id, behind a colon what is allowed, with a minus what is masked. */
export function readSelections(value: unknown): string {
  const servers = Object.entries((value ?? {}) as Readonly<Record<string, Selection>>); // as the schema of agents has it
  return servers.map(([id, { allow = [], mask = [] }]) => {
    const names = [...allow, ...mask.map((name) => `-${name}`)];
    return names.length === 0 ? id : `${id}: ${names.join(', ')}`;
  }).join('\n');
}

export function writeSelections(written: string): Readonly<Record<string, Selection>> {
  const entries = written.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  return Object.fromEntries(entries.map((line) => {
    const at = line.indexOf(':');
    const id = at === -1 ? line : line.slice(0, at).trim();
    const names = at === -1 ? [] : line.slice(at + 1).split(/[\s,]+/).filter((name) => name !== '');
    const allow = names.filter((name) => !name.startsWith('-'));
    const mask = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
    return [id, { ...(allow.length > 0 && { allow }), ...(mask.length > 0 && { mask }) }];
  }));
}

interface Selection {
  readonly allow?: readonly string[];
  readonly mask?: readonly string[];
}
