/** A condition of a rule on one value of the input. */

import * as v from 'valibot';
import { pointerForm, readPointer } from '../base/json.ts';
import { findMatch } from './regex/find.ts';
import { parseRegex } from './regex/matcher.ts';

const Scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);
const Bound = v.optional(v.pipe(v.number(), v.finite()));
const operators = ['equals', 'in', 'prefix', 'matches', 'lt', 'lte', 'gt', 'gte'] as const;

/** Room for the anchors of a pattern. */
const longestPattern = 190;

const Pattern = v.pipe(
  v.string(),
  v.maxLength(longestPattern),
  v.check(isPattern, 'must be a pattern of characters, classes, groups, "|", "*", "+", "?" and "{m,n}"'),
);

/** A position in the input, and one operator. */
export const RuleCondition = v.pipe(
  v.strictObject({
    /** A JSON Pointer into the input, as `/filter/region`; empty for the input as a whole. */
    at: v.pipe(v.string(), v.maxLength(500), v.regex(pointerForm, 'must be a JSON Pointer, as "/amount"')),
    equals: v.optional(Scalar),
    in: v.optional(v.pipe(v.array(Scalar), v.minLength(1), v.maxLength(1000))),
    prefix: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(1000))),
    /** A regular expression for the whole text, matched in linear time. */
    matches: v.optional(Pattern),
    lt: Bound,
    lte: Bound,
    gt: Bound,
    gte: Bound,
    /** Without the value the condition does not hold. Otherwise it cannot be judged without it. */
    optional: v.optional(v.boolean(), false),
  }),
  v.check(
    (condition) => operators.filter((operator) => condition[operator] !== undefined).length === 1,
    `must have one of ${operators.join(', ')}`,
  ),
);
export type RuleCondition = v.InferOutput<typeof RuleCondition>;

/** The result of a condition. `unfit`: the value has another type than the condition expects. */
export type Finding = 'holds' | 'fails' | 'unfit';

export function compileCondition(condition: RuleCondition): (input: unknown) => Finding {
  const test = testOf(condition);
  return (input) => {
    const value = readPointer(input, condition.at);
    if (value === undefined) return condition.optional ? 'fails' : 'unfit';
    return test(value);
  };
}

function testOf({ equals, in: list, prefix, matches, lt, lte, gt, gte }: RuleCondition): (value: unknown) => Finding {
  if (equals !== undefined) return oneOf([equals]);
  if (list !== undefined) return oneOf(list);
  if (prefix !== undefined) return ofType('string', (text) => text.startsWith(prefix));
  if (matches !== undefined) {
    const program = parseRegex(whole(matches), { ignoreCase: false });
    return ofType('string', (text) => findMatch(program, text) !== undefined);
  }
  if (lt !== undefined) return ofType('number', (number) => number < lt);
  if (lte !== undefined) return ofType('number', (number) => number <= lte);
  if (gt !== undefined) return ofType('number', (number) => number > gt);
  return ofType('number', (number) => number >= (gte ?? Infinity));
}

/** A value of a type that none of the wanted ones has is not another value: `["prod"]` must not pass for what is not `"prod"`. */
function oneOf(wanted: readonly (string | number | boolean | null)[]): (value: unknown) => Finding {
  const values = new Set<unknown>(wanted);
  const types = new Set(wanted.map(typeOf));
  return (value) => types.has(typeOf(value)) ? foundIf(values.has(value)) : 'unfit';
}

interface Types {
  readonly string: string;
  readonly number: number;
}

function ofType<T extends keyof Types>(type: T, test: (value: Types[T]) => boolean): (value: unknown) => Finding {
  return (value) => typeOf(value) === type ? foundIf(test(value as Types[T])) : 'unfit'; // safe: just checked
}

/** `NaN` compares with nothing. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Number.isNaN(value) ? 'nothing' : typeof value;
}

function foundIf(holds: boolean): Finding {
  return holds ? 'holds' : 'fails';
}

/** Parsed by itself first: in parentheses, `a)|(b` would be another pattern. */
function isPattern(pattern: string): boolean {
  try {
    parseRegex(pattern, { ignoreCase: false });
    parseRegex(whole(pattern), { ignoreCase: false });
    return true;
  } catch {
    return false;
  }
}

function whole(pattern: string): string {
  return `^(${pattern})$`;
}
