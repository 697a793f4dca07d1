/** Groups characters that a machine treats alike: its tables have one column per group. */

import { type CharSet, isWord } from './char-set.ts';
import type { Program } from './program.ts';
import type { Work } from './work.ts';

/** The kinds of characters of one machine. */
export interface Alphabet {
  /** Returns the kind of a code point. */
  kindOf(code: number, work: Work): number;
  /** Whether the step, by its place in the machine, takes characters of this kind. */
  takes(step: number, kind: number): boolean;
  isWord(kind: number): boolean;
}

const ascii = 128;
/** The most other characters that are cached; then the cache starts again. */
const maxCached = 4_096;

/** Returns the alphabet of a machine, which learns each character when it meets it. */
export function createAlphabet({ steps }: Program): Alphabet {
  const sets: CharSet[] = [];
  const numbers = new Map<string, number>();
  const setOfStep = steps.map((step) => step.op === 'char' ? numberOf(step.set, { sets, numbers }) : -1);
  const seesWords = steps.some((step) => step.op === 'assert' && /word/.test(step.where));
  const kinds = new Map<string, number>();
  const members: ReadonlySet<number>[] = [];
  const words: boolean[] = [];
  const plain = new Int32Array(ascii).fill(-1);
  const others = new Map<number, number>();
  const learn = (code: number, work: Work): number => {
    work.spend(sets.length);
    const own = sets.flatMap(({ test }, number) => (test(code) ? [number] : []));
    const word = seesWords && isWord(code);
    const name = `${own.join()}${word ? 'w' : ''}`;
    const kind = kinds.get(name) ?? kinds.size;
    kinds.set(name, kind);
    members[kind] ??= new Set(own);
    words[kind] ??= word;
    return kind;
  };
  return {
    kindOf(code, work) {
      if (code < ascii) return plain[code]! >= 0 ? plain[code]! : (plain[code] = learn(code, work));
      const known = others.get(code);
      if (known !== undefined) return known;
      if (others.size >= maxCached) others.clear();
      const kind = learn(code, work);
      others.set(code, kind);
      return kind;
    },
    takes: (step, kind) => members[kind]!.has(setOfStep[step]!),
    isWord: (kind) => words[kind]!,
  };
}

function numberOf(
  set: CharSet,
  { sets, numbers }: { readonly sets: CharSet[]; readonly numbers: Map<string, number> },
): number {
  const known = numbers.get(set.key);
  if (known !== undefined) return known;
  numbers.set(set.key, sets.length);
  return sets.push(set) - 1;
}
