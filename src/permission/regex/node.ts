/** What a regular expression is once it is parsed, and the error for one that cannot be. */

import { PinnaceError } from '../../base/errors.ts';

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

/** A set of code points. Two sets with one key hold the same code points. */
export interface CharSet {
  readonly key: string;
  readonly test: (code: number) => boolean;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Whether `\w` holds the code point: letters of other scripts are not among them. */
export const isWord = (code: number): boolean =>
  isDigit(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);

const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0xfeff ||
  (code >= 0x1680 && /^\s$/.test(String.fromCharCode(code)));

const isLineEnd = (code: number): boolean => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

/** Every code point, as `.` means with the flag `s`. */
export const anyChar: CharSet = { key: 'any', test: () => true };
/** Every code point but the ends of lines, as `.` means. */
export const dot: CharSet = { key: 'dot', test: (code) => !isLineEnd(code) };

const classes: Readonly<Record<string, CharSet>> = {
  d: { key: '\\d', test: isDigit },
  w: { key: '\\w', test: isWord },
  s: { key: '\\s', test: isSpace },
};

/** Returns the set of `\d \w \s \D \W \S`; `undefined` for any other letter. */
export function classOf(letter: string): CharSet | undefined {
  const small = letter.toLowerCase();
  const set = Object.hasOwn(classes, small) ? classes[small] : undefined;
  return set && letter !== small ? complement(set) : set;
}

/** Returns everything outside a set. */
export function complement({ key, test }: CharSet): CharSet {
  return { key: `not(${key})`, test: (code) => !test(code) };
}

/** Returns everything that one of the sets holds. */
export function union(sets: readonly CharSet[]): CharSet {
  const [first] = sets;
  if (first && sets.length === 1) return first;
  return { key: `(${sets.map(({ key }) => key).join()})`, test: (code) => sets.some(({ test }) => test(code)) };
}

/** Returns the code points from one to another, both included. */
export function range(from: number, to: number, { ignoreCase }: { readonly ignoreCase: boolean }): CharSet {
  const key = `${from}-${to}${ignoreCase ? 'i' : ''}`;
  const inside = (code: number): boolean => code >= from && code <= to;
  if (!ignoreCase) return { key, test: inside };
  return {
    key,
    test: (code) => {
      const text = String.fromCodePoint(code);
      return inside(code) || inside(text.toLowerCase().codePointAt(0)!) || inside(text.toUpperCase().codePointAt(0)!);
    },
  };
}

/**
 * Returns the set of `\p{name}`, by the platform's own tables; `undefined` for a property that it does not have. The name has no
 * syntax of its own and the expression reads one character, so its time is constant.
 */
export function propertyOf(name: string): CharSet | undefined {
  if (!/^[A-Za-z_]{1,64}(?:=[A-Za-z_0-9]{1,64})?$/.test(name)) return undefined;
  try {
    const own = new RegExp(`^\\p{${name}}$`, 'u');
    return { key: `\\p{${name}}`, test: (code) => own.test(String.fromCodePoint(code)) };
  } catch {
    return undefined;
  }
}
