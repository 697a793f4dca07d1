/** Fills the input of a tool from a piece of the user's message, by the tool's JSON Schema alone. */

import { asRecord, isRecord } from '../../../../src/base/is-record.ts';
import { bracketed, type Clause, clauseOf, parseJson } from '../clause.ts';
import { choiceFrom, flagFrom } from './fill-choice.ts';
import { listFrom } from './fill-list.ts';
import { numberFrom } from './fill-number.ts';
import { assignedTo, labelled, named } from './fill-assigned.ts';
import { directionOf, formatted } from './fill-format.ts';
import { markedFrom, textFrom } from './fill-text.ts';
import { lookUp } from '../look-up.ts';
import { type Field, own, type Shape } from '../shape.ts';

/** What a value may be taken from besides the message. */
export interface Sources {
  /** What tools returned before, the latest last. */
  readonly results: readonly unknown[];
  /** Whether what is left of the message may be a value that nothing marks as one. */
  readonly mayGuess: boolean;
  /** The stems of the tool's name. These words name the tool and are never values. */
  readonly verbs: ReadonlySet<string>;
  /** Returns a text that is used nowhere else, the same for the same conversation. */
  readonly uniqueId: () => string;
}

/** An input, and what it still needs. */
export interface Filled {
  readonly input: Readonly<Record<string, unknown>>;
  readonly missing: readonly Field[];
}

type Strategy = (field: Field, clause: Clause, context: Context) => unknown;

interface Context extends Sources {
  readonly fill: (shape: Shape, clause: Clause) => Filled;
  /** Whether the property is wanted even where the message does not name it. */
  readonly wanted: (field: Field) => boolean;
}

/** Strategies, the most certain first. Each visits all properties before the next one starts. */
const strategies: readonly Strategy[] = [
  (field, clause) => assignedTo(field, clause),
  (field, clause) => choiceFrom(field, clause),
  (field, clause, { verbs }) => formatted(field, clause, { verbs }),
  (field, clause) => directionOf(field, clause),
  (field, clause, { wanted }) => numberFrom(field, clause, { wanted: wanted(field) }),
  (field, clause) => flagFrom(field, clause),
  (field, clause) => labelled(field, clause),
  (field, clause) => named(field, clause),
  (field, clause) => markedFrom(field, clause),
  (field, clause, { wanted, verbs, fill }) => listFrom(field, clause, { wanted: wanted(field), verbs, fill }),
  objectFrom,
  (field, clause, { wanted, verbs, mayGuess }) =>
    textFrom(field, clause, { wanted: wanted(field), verbs, mayGuess: mayGuess && field.required }),
  ({ required, words, shape }, _, { results }) => required ? lookUp(results, { words, shape }) : undefined,
];

/** For values that only a program can create: the text assigns them by name, or a tool returned them. */
const tokenStrategies: readonly Strategy[] = [...strategies.slice(0, 1), ...strategies.slice(-1)];
const tokenName = /version|token|cursor|etag|revision/i;

/** How deep objects are filled. */
const maxDepth = 5;

/** Fills an object of the shape from the text. */
export function fillInput(shape: Shape, text: string, sources: Sources): Filled {
  return fillObject(shape, clauseOf(text.slice(0, 4000)), { sources, depth: 0 });
}

function fillObject(shape: Shape, clause: Clause, { sources, depth }: { sources: Sources; depth: number }): Filled {
  if (depth > maxDepth) return { input: {}, missing: [] };
  const fields = fieldsOf(shape, clause);
  const context: Context = {
    ...sources,
    fill: (inner, part) => fillObject(inner, part, { sources, depth: depth + 1 }),
    wanted: (field) => field.required || field === mainOf(fields),
  };
  const input: Record<string, unknown> = {};
  for (const strategy of strategies) {
    for (const field of fields) {
      if (Object.hasOwn(input, field.name) || !isFor(strategy, field)) continue;
      const value = strategy(field, clause, context);
      if (value !== undefined) set(input, field.name, value);
    }
  }
  for (const field of fields) fallBack(field, input, sources);
  return {
    input: inOrderOf(fields, input),
    missing: fields.filter(({ name, required }) => required && !Object.hasOwn(input, name)),
  };
}

function isFor(strategy: Strategy, { name, shape }: Field): boolean {
  if (isKey({ name, shape })) return false;
  return !tokenName.test(name) || tokenStrategies.includes(strategy);
}

function inOrderOf(
  fields: readonly Field[],
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const ordered: Record<string, unknown> = {};
  for (const { name } of fields) if (Object.hasOwn(input, name)) set(ordered, name, input[name]);
  return ordered;
}

/** An own property, whatever its name: `__proto__` too. */
function set(input: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Where nothing is required, the first text is what the tool is about. */
function mainOf(fields: readonly Field[]): Field | undefined {
  return fields.some(({ required }) => required) ? undefined : fields.find(({ shape }) => shape.kind === 'string');
}

/** The properties of the shape; of a union, those of the member that the text names. */
function fieldsOf(shape: Shape, clause: Clause): readonly Field[] {
  const variants = shape.variants();
  if (variants.length === 0) return shape.fields();
  const chosen =
    variants.find((variant) =>
      variant.fields().some((field) =>
        field.shape.choices.length === 1 && choiceFrom({ ...field, required: false }, clauseOf(clause.open()))
      )
    ) ?? variants[0];
  const common = shape.fields().filter(({ name }) => !chosen?.fields().some((field) => field.name === name));
  return [...chosen?.fields() ?? [], ...common];
}

function objectFrom(field: Field, clause: Clause, { fill }: Context): unknown {
  const { shape, required } = field;
  if (shape.kind !== 'object') return undefined;
  const json = clause.take(new RegExp(`${bracketed}+`, 'u'));
  const value = json === undefined ? undefined : parseJson(json);
  if (isRecord(value)) return value;
  if (!required) return undefined;
  const { input, missing } = fill(shape, clause);
  return missing.length === 0 ? input : undefined;
}

/** What is required and nowhere to be found: the schema's default, an id made here, or no. */
function fallBack({ name, required, shape }: Field, input: Record<string, unknown>, sources: Sources): void {
  if (!required || Object.hasOwn(input, name)) return;
  const value = shape.fallback ?? (isKey({ name, shape }) ? sources.uniqueId() : undefined) ??
    (shape.kind === 'boolean' ? false : undefined);
  if (value !== undefined) set(input, name, value);
}

/** Whether the value must be generated: a key that is unique to this call. */
function isKey({ name, shape }: Pick<Field, 'name' | 'shape'>): boolean {
  return /idempot|nonce/i.test(name) || (shape.format === 'uuid' && /unique|idempot/i.test(shape.hint));
}

/** Returns any value of the shape: its default, an example, or the simplest of its kind. */
function anyValueOf(shape: Shape, depth = 0): unknown {
  const known = shape.fallback ?? shape.examples[0] ?? shape.choices[0];
  if (known !== undefined) return known;
  switch (shape.kind) {
    case 'number':
    case 'integer':
      return Number.isFinite(shape.minimum) ? shape.minimum : Math.min(1, shape.maximum);
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return completed(shape, {}, depth + 1);
    case 'null':
      return null;
    default:
      return formatExamples[shape.format] ?? 'text'.slice(0, shape.maxLength);
  }
}

const formatExamples: Readonly<Record<string, string>> = {
  'date': '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  'time': '12:00:00Z',
  'email': 'someone@example.com',
  'uri': 'https://example.com/',
  'uuid': '00000000-0000-4000-8000-000000000000',
  'ipv4': '192.0.2.1',
};

/** Returns the input with any value for what it lacks. */
export function completed(shape: Shape, input: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  if (depth > maxDepth) return whole;
  const fields = shape.variants()[0]?.fields() ?? shape.fields();
  for (const [name, value] of Object.entries(asRecord(input))) set(whole, name, value);
  for (const field of fields) {
    if (field.required && own(whole, field.name) === undefined) set(whole, field.name, anyValueOf(field.shape, depth));
  }
  return whole;
}
