/** Parses data from outside with a valibot schema, and says what is wrong without repeating what was sent. */

import * as v from 'valibot';
import { suggest } from './check-options.ts';
import { PinnaceError } from './errors.ts';

/** One thing that is wrong with the data. */
export interface Issue {
  /** Where, as `chat.messages.0.role`; empty for the data as a whole. */
  readonly path: string;
  /** What would have been right. */
  readonly message: string;
}

/**
 * Returns the parsed data.
 *
 * @throws PinnaceError `invalid_argument` whose message names the first issue and whose `details.issues` lists up to 20.
 */
export function parse<S extends v.GenericSchema<unknown, unknown>>(
  schema: S,
  data: unknown,
  { what }: { what: string },
): v.InferOutput<S> {
  if (Array.isArray(data) && ofRecord.test(schema.type)) {
    throw invalid(what, [{ path: '', message: 'must be an object' }]);
  }
  const result = v.safeParse(schema, data);
  if (result.success) return result.output;
  throw invalid(what, result.issues.map((issue) => withNearest(toIssue(issue), issue, schema)));
}

/** For valibot, an array is an object: one whose fields are all optional would be read as an empty record. */
const ofRecord = /object|record/;

export const unknownField = 'is not known here';

/** Adds to an unknown field, and to a text that is none of a few, the most similar one that it may be. */
function withNearest(issue: Issue, { type, input, expected, path }: v.BaseIssue<unknown>, schema: unknown): Issue {
  if (type === 'picklist' && typeof input === 'string') {
    const [name] = suggest(input, [...(expected ?? '').matchAll(/"([^"]*)"/g)].map(([, one = '']) => one), {
      limit: 1,
    });
    return name === undefined ? issue : { ...issue, message: `${issue.message}; use "${name}"` };
  }
  if (expected !== 'never' || !path || issue.message !== unknownField) return issue;
  const keys = path.map(({ key }) => String(key));
  const field = keys.pop() ?? '';
  let parent = unwrapped(schema);
  for (const key of keys) parent = unwrapped(parent?.entries?.[key] ?? parent?.item ?? parent?.value);
  const [nearest] = suggest(field, Object.keys(parent?.entries ?? {}), { limit: 1 });
  return nearest === undefined ? issue : { ...issue, message: `${issue.message}; use "${nearest}"` };
}

/** What schemas of valibot have, as far as they contain others. */
interface Nested {
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly item?: unknown;
  readonly value?: unknown;
  readonly wrapped?: unknown;
}

function unwrapped(schema: unknown): Nested | undefined {
  const nested = schema as Nested | undefined; // safe: every member may be missing
  return nested?.wrapped === undefined ? nested : unwrapped(nested.wrapped);
}

export function invalid(what: string, issues: readonly Issue[], reason = 'invalid_data'): PinnaceError {
  const [first] = issues;
  const where = first?.path ? `"${first.path}" ` : '';
  return new PinnaceError('invalid_argument', `Cannot read ${what}: ${where}${first?.message ?? 'is not valid'}`, {
    details: { reason, issues: issues.slice(0, 20) },
  });
}

/** Describes a valibot issue without the received value. */
export function toIssue(issue: v.BaseIssue<unknown>): Issue {
  return { path: pathOf(issue), message: messageOf(issue) };
}

function pathOf(issue: v.BaseIssue<unknown>): string {
  return pathText(issue.path?.map(({ key }) => String(key)) ?? []);
}

/** A path as errors show it: names that a caller made up are shortened, and of odd characters nothing is shown. */
export function pathText(names: readonly string[]): string {
  return names.map((name) => name.replace(/[^\w.$-]/g, '?').slice(0, 64)).join('.');
}

/** Valibot's own messages end in the received value; ours stop before it. A message that starts small was written by us. */
function messageOf(issue: v.BaseIssue<unknown>): string {
  if (/^(must|is|has) /.test(issue.message)) return issue.message;
  if (issue.expected === 'never') return unknownField;
  if (issue.type === 'max_length') return `must be at most ${String(issue.requirement)} long`;
  if (issue.type === 'min_length') return `must be at least ${String(issue.requirement)} long`;
  if (issue.received === 'undefined') return 'is missing';
  return issue.expected === null ? 'is not valid' : `must be ${expectedText(issue.expected)}`;
}

/** Returns the words that follow "must be" for what a schema expects: `an object` for `Object`, `"a" or "b"` for `("a" | "b")`. */
export function expectedText(expected: string): string {
  return expected.replace(/^\(|\)$/g, '').replaceAll(' | ', ' or ')
    .replace(/(?<!["\w])(?:(object|array|integer)|string|number|boolean)(?!\w)/gi, (type: string, vowel?: string) => {
      return `${vowel ? 'an' : 'a'} ${type.toLowerCase()}`;
    });
}
