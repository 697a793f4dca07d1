/** Which files may hold a text: those that hold all of its runs of three characters. */

import type { Turns } from '../../../src/base/turns.ts';

/** The runs of three characters of all files. */
export interface Trigrams {
  /** Takes the files in the order of their numbers. */
  add(file: number, text: string, turns: Turns): Promise<void>;
  /** The files that may hold the text, whatever the case of its letters; `undefined` where it is too short. */
  filesWith(text: string): readonly number[] | undefined;
}

/** Number of hash slots. Other trigrams may share a slot; reading the file tells them apart. */
const places = 1 << 20;

/** Returns trigrams of no files. */
export function createTrigrams(): Trigrams {
  const postings = new Map<number, number[]>();
  return {
    async add(file, text, turns) {
      const small = text.toLowerCase();
      for (let at = 0; at + 3 <= small.length; at++) {
        if (at % 16_384 === 0) await turns.next();
        const place = placeOf(small, at);
        const files = postings.get(place);
        if (!files) postings.set(place, [file]);
        else if (files.at(-1) !== file) files.push(file);
      }
    },
    filesWith(text) {
      const small = text.toLowerCase();
      if (small.length < 3) return undefined;
      const lists = Array.from({ length: small.length - 2 }, (_, at) => postings.get(placeOf(small, at)) ?? []);
      const [rarest = [], ...others] = lists.toSorted((a, b) => a.length - b.length).slice(0, 6);
      const sets = others.map((list) => new Set(list));
      return rarest.filter((file) => sets.every((set) => set.has(file)));
    },
  };
}

function placeOf(text: string, at: number): number {
  const mixed = Math.imul(text.charCodeAt(at), 0x9e3779b1) ^ Math.imul(text.charCodeAt(at + 1), 0x85ebca6b) ^
    Math.imul(text.charCodeAt(at + 2), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 15)) & (places - 1);
}
