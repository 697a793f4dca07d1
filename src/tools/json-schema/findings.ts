/** What the keywords of a JSON Schema share while a value is evaluated. */

import type { Matcher } from '../../permission/regex/matcher.ts';
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
  /** The properties and items that a keyword has looked at; absent where no keyword asks for them. */
  readonly evaluated: ReadonlySet<string | number> | undefined;
}

/** An evaluation that yields at the end of its turn. Its caller continues it after other work. */
export type Evaluation<T = Result> = Generator<undefined, T, undefined>;

/** What an evaluation works with. */
export interface Context {
  /** The schema and its parts by their addresses. */
  readonly parts: Readonly<Record<string, Schema | boolean>>;
  readonly matcher: (pattern: string) => Matcher;
  /** Steps of patterns. */
  readonly patternWork: Work;
  /** Whether the text is of the format; a format that is not known holds of all. */
  readonly isOfFormat: (format: string, text: string) => boolean;
  /** Whether a keyword of the schema asks what others have looked at. */
  readonly tracks: boolean;
  /**
   * Counts work: a look at a schema costs one unit, about half a microsecond. Returns whether the turn is over.
   *
   * @throws PinnaceError `too_much_work` when there is no more.
   */
  readonly spend: (units: number) => boolean;
}

/** Where a value is, and what its evaluation works with. */
export interface EvaluateOptions {
  readonly at: string;
  readonly context: Context;
}

/** Evaluates another value, or the same one by another schema. */
export type Evaluate = (value: unknown, schema: unknown, options: EvaluateOptions) => Evaluation;

/** Failures beyond this number are not listed. */
const mostFailures = 200;

/** Adds failures to a list, as far as it is not full. */
export function addUpTo(list: Failure[], more: readonly Failure[]): void {
  for (let at = 0; at < more.length && list.length < mostFailures; at++) list.push(more[at]!);
}

/** Collects what the keywords of one schema find. */
export class Findings implements EvaluateOptions {
  readonly schema: Schema;
  readonly at: string;
  readonly context: Context;
  readonly evaluate: Evaluate;
  readonly evaluated: Set<string | number> | undefined;
  readonly failures: Failure[] = [];
  valid = true;

  constructor(schema: Schema, { at, context }: EvaluateOptions, evaluate: Evaluate) {
    this.schema = schema;
    this.at = at;
    this.context = context;
    this.evaluate = evaluate;
    this.evaluated = context.tracks ? new Set() : undefined;
  }

  /** Whether the value does not fit and no failure would be listed any more. */
  get isFull(): boolean {
    return this.failures.length >= mostFailures;
  }

  /** Records that a keyword does not hold, with what below it failed. */
  fail(keyword: string, error = '', below: readonly Failure[] = []): void {
    this.valid = false;
    if (this.isFull) return;
    this.failures.push({ instanceLocation: this.at, keyword, error });
    addUpTo(this.failures, below);
  }

  /** Evaluates the same value by another schema, and adds the keys that it evaluated when the value is valid. */
  *inPlace(value: unknown, schema: unknown): Evaluation {
    const result = yield* this.evaluate(value, schema, this);
    if (result.valid && this.evaluated && result.evaluated) {
      for (const key of result.evaluated) this.evaluated.add(key);
      if (this.context.spend(result.evaluated.size / 8)) yield;
    }
    return result;
  }
}
