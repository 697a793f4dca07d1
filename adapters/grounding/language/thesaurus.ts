/** Other words for the words of a query, with what a match of them is worth. */

import { stem } from '../../../src/base/language/stem.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import { createTurns } from '../../../src/base/turns.ts';

/** Looks up other words. All words are stems, except in phrases. */
export interface Thesaurus {
  /** Returns the stems that say the same, with their worth from 0 to 1. */
  of(stem: string): ReadonlyMap<string, number>;
  /** Returns the stems for two or three neighboring words of a query, as written in lower case. */
  ofPhrase(words: string): readonly string[];
}

/** The worth of the first word of a group for the others, and of the others for each other. */
const [headWorth, siblingWorth] = [0.6, 0.3];
const none: ReadonlyMap<string, number> = new Map();

const loadSynonyms = /* @__PURE__ */ loadOnce(() => import('./synonyms.ts'));

/** Returns the thesaurus. The first search loads and builds it. */
export const commonThesaurus: () => Promise<Thesaurus> = /* @__PURE__ */ loadOnce(async () => {
  const { phraseSynonyms, synonymGroups } = await loadSynonyms();
  return await createThesaurus(synonymGroups, phraseSynonyms);
});

/** Creates a thesaurus of groups, apart by semicolons, and of phrases, one a line. It takes several turns of the event loop. */
export async function createThesaurus(groups: string, phrases: string): Promise<Thesaurus> {
  const turns = createTurns();
  const worth = new Map<string, Map<string, number>>();
  const relate = (one: string, other: string, value: number): void => {
    if (one === other) return;
    const others = worth.get(one) ?? new Map<string, number>();
    others.set(other, Math.max(value, others.get(other) ?? 0));
    worth.set(one, others);
  };
  for (const group of groups.split(';')) {
    await turns.next();
    const stems = group.trim().split(/\s+/).map(stem);
    const [head] = stems;
    for (const one of stems) {
      for (const other of stems) relate(one, other, one === head || other === head ? headWorth : siblingWorth);
    }
  }
  const byPhrase = new Map(
    phrases.split('\n').map((line) => {
      const [phrase = '', meant = ''] = line.split(' = ');
      return [phrase.trim(), meant.trim().split(/\s+/).map(stem)] as const;
    }),
  );
  return { of: (word) => worth.get(word) ?? none, ofPhrase: (words) => byPhrase.get(words) ?? [] };
}
