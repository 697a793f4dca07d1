/** What the keywords of a JSON Schema share while a value is evaluated. */

import type { Work } from '../../permission/regex/work.ts';

/** A schema as it is evaluated: {@link compileJsonSchema} has checked its keywords. */
export type Schema = Readonly<Record<string, unknown>>;

/** A keyword that a value does not fit. */
export interface Failure {
  /** A JSON Pointer into the value, as a fragment. */
  readonly instanceLocation: string;
  readonly keyword: string;
  readonly error: string;
}

/** What became of one schema and one value. */
export interface Result {
  readonly valid: boolean;
  readonly failures: readonly Failure[];
  /** The properties and items that a keyword has looked at. */
  readonly evaluated: ReadonlySet<string | number>;
}

/** What an evaluation works with. */
export interface Context {
  /** The schema and its parts by their addresses. */
  readonly parts: Readonly<Record<string, Schema | boolean>>;
  /** Whether the pattern matches somewhere in the text. */
  readonly matches: (pattern: string, text: string) => boolean;
  /** Whether the text is of the format; a format that is not known holds of all. */
  readonly isOfFormat: (format: string, text: string) => boolean;
  /** Every look at a schema costs one unit. */
  readonly work: Work;
}

/** Where a value is, and what its evaluation works with. */
export interface EvaluateOptions {
  readonly at: string;
  readonly context: Context;
}

/** Collects what the keywords of one schema find. */
export interface Findings extends EvaluateOptions {
  readonly schema: Schema;
  readonly evaluated: Set<string | number>;
  /** Evaluates another value, or the same one by another schema. */
  readonly evaluate: (value: unknown, schema: unknown, options: EvaluateOptions) => Result;
  /** Records that a keyword does not hold, with what below it failed. */
  readonly fail: (keyword: string, error?: string, below?: readonly Failure[]) => void;
}

/** Evaluates the same value by another schema, and adds the keys that it evaluated when the value is valid. */
export function applyInPlace(value: unknown, schema: unknown, findings: Findings): Result {
  const result = findings.evaluate(value, schema, findings);
  if (result.valid) { for (const key of result.evaluated) findings.evaluated.add(key); }
  return result;
}
