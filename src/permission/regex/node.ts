/** What a regular expression is once it is parsed, and the error for one that cannot be. */

import { PinnaceError } from '../../base/errors.ts';
import type { CharSet } from './char-set.ts';

/** A place between two characters. */
export type Assertion = 'start' | 'end' | 'word' | 'no-word';

/** A parsed regular expression, or a part of one. */
export type Node =
  | { readonly type: 'char'; readonly set: CharSet; readonly literal?: string }
  | { readonly type: 'assert'; readonly where: Assertion }
  | { readonly type: 'all'; readonly nodes: readonly Node[] }
  | { readonly type: 'any'; readonly nodes: readonly Node[] }
  | { readonly type: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

/** Bounds of a pattern: with them, its machine has a known size. */
export interface RegexLimits {
  /** Characters of the pattern. */
  readonly length: number;
  /** The largest number in `{m,n}`. */
  readonly repetitions: number;
  /** Steps of the machine. */
  readonly steps: number;
}

/** The limits of a pattern in a JSON Schema. */
export const schemaLimits: RegexLimits = { length: 2_000, repetitions: 4_096, steps: 10_000 };

/** The limits of a pattern that a model or an operator writes to search, or into a rule. */
export const searchLimits: RegexLimits = { length: 200, repetitions: 100, steps: 1_000 };

/** Returns the error for a pattern; `position` counts its characters from 0. */
export function refused(why: string, position: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot use the regular expression: at character ${position + 1}, ${why}`,
    { details: { reason: 'invalid_regex', position, why } },
  );
}
