/** The form of a question: its fields as a person fills them in, and the answer as the server receives it. */

import type { Ask } from './need-data.ts';

/** A form that a server sends. */
export type FormAsk = Extract<Ask, { readonly mode: 'form' }>;

/** An option, and what is shown for it. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

export interface QuestionField {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly as: 'text' | 'email' | 'url' | 'date' | 'datetime-local' | 'number' | 'flag' | 'choice' | 'choices';
  readonly choices: readonly Choice[];
  readonly isRequired: boolean;
  /** Its JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** What a person has filled in: texts, and lists of what is chosen. */
export type FieldValue = string | boolean | readonly string[];
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** Returns the fields of a form, in the order of its schema. */
export function fieldsOf({ schema: { properties, required } }: FormAsk): readonly QuestionField[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    label: textOf(schema['title']) || name,
    help: textOf(schema['description']),
    as: kindOf(schema),
    choices: choicesOf(schema['type'] === 'array' ? recordOf(schema['items']) : schema),
    isRequired: required.includes(name),
    schema,
  }));
}

/** Returns what the form shows first: the server's defaults. */
export function defaultsOf(fields: readonly QuestionField[]): FieldValues {
  return Object.fromEntries(fields.map(({ name, as, schema: { default: value } }): [string, FieldValue] => {
    if (as === 'flag') return [name, value === true];
    if (as === 'choices') return [name, Array.isArray(value) ? value.map(String) : []];
    return [name, typeof value === 'string' || typeof value === 'number' ? String(value) : ''];
  }));
}

/** Returns what is wrong, by the names of the fields. The runtime checks the answer again, against the whole schema. */
export function wrongIn(fields: readonly QuestionField[], values: FieldValues): Readonly<Record<string, string>> {
  const wrong = fields.flatMap((field) => {
    const text = problemOf(field, values[field.name] ?? '');
    return text === undefined ? [] : [[field.name, text]];
  });
  return Object.fromEntries(wrong);
}

/** Returns the answer: fields that were left empty are not part of it. */
export function contentOf(fields: readonly QuestionField[], values: FieldValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.flatMap(({ name, as, isRequired }): [string, unknown][] => {
    const value = values[name] ?? '';
    if (typeof value === 'boolean') return [[name, value]];
    if (as === 'choices') return value.length === 0 && !isRequired ? [] : [[name, value]];
    const text = String(value).trim();
    if (text === '') return [];
    if (as === 'number') return [[name, Number(text)]];
    return [[name, as === 'datetime-local' ? new Date(text).toISOString() : text]];
  }));
}

function problemOf({ label, as, isRequired, schema }: QuestionField, value: FieldValue): string | undefined {
  if (typeof value === 'boolean') return undefined;
  if (value.length === 0 || (typeof value === 'string' && value.trim() === '')) {
    return isRequired ? `${label} is required.` : undefined;
  }
  if (typeof value !== 'string') return problemOfList(schema, value);
  return as === 'number' ? problemOfNumber(schema, Number(value)) : problemOfText({ as, schema }, value.trim());
}

function problemOfList(schema: QuestionField['schema'], chosen: readonly string[]): string | undefined {
  const [least, most] = [numberOf(schema['minItems'], 0), numberOf(schema['maxItems'], Infinity)];
  if (chosen.length < least) return `Choose at least ${least}.`;
  return chosen.length > most ? `Choose at most ${most}.` : undefined;
}

function problemOfNumber(schema: QuestionField['schema'], number: number): string | undefined {
  const [least, most] = [numberOf(schema['minimum'], -Infinity), numberOf(schema['maximum'], Infinity)];
  if (!Number.isFinite(number)) return 'Enter a number.';
  if (schema['type'] === 'integer' && !Number.isInteger(number)) return 'Enter a whole number.';
  if (number < least) return `At least ${least}.`;
  return number > most ? `At most ${most}.` : undefined;
}

function problemOfText({ as, schema }: Pick<QuestionField, 'as' | 'schema'>, text: string): string | undefined {
  const [least, most] = [numberOf(schema['minLength'], 0), numberOf(schema['maxLength'], Infinity)];
  if (text.length < least) return `At least ${least} characters.`;
  if (text.length > most) return `At most ${most} characters.`;
  if (as === 'email' && !/^[^@\s]+@[^@\s]+$/.test(text)) return 'Enter an email address.';
  return as === 'url' && !URL.canParse(text) ? 'Enter an address such as https://example.com.' : undefined;
}

function kindOf(schema: Readonly<Record<string, unknown>>): QuestionField['as'] {
  const { type, format } = schema;
  if (type === 'array') return 'choices';
  if (type === 'boolean') return 'flag';
  if (type === 'number' || type === 'integer') return 'number';
  if (choicesOf(schema).length > 0) return 'choice';
  return formats[textOf(format)] ?? 'text';
}

const formats: Readonly<Record<string, QuestionField['as']>> = {
  'email': 'email',
  'uri': 'url',
  'date': 'date',
  'date-time': 'datetime-local',
};

/** The five shapes of MCP: plain and titled, for one and for several, and the names of 2025-06-18. */
function choicesOf(schema: Readonly<Record<string, unknown>>): readonly Choice[] {
  const { enum: values, enumNames: names, oneOf, anyOf } = schema;
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled)) {
    return titled.map((choice) => ({
      value: textOf(recordOf(choice)['const']),
      label: textOf(recordOf(choice)['title']) || textOf(recordOf(choice)['const']),
    }));
  }
  if (!Array.isArray(values)) return [];
  return values.map((value, at) => ({
    value: String(value),
    label: Array.isArray(names) ? textOf(names[at]) || String(value) : String(value),
  }));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? value as Readonly<Record<string, unknown>> : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
