/** Splits text into words for indexing and for queries, in every script. */

/** A word and its position, in UTF-16 code units. */
export interface Word {
  readonly text: string;
  readonly at: number;
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const run =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]]+/gv;

/** Returns the words of a text. Scripts without spaces are cut into pairs of characters, which overlap. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, index } of text.matchAll(run)) {
    if (!unspaced.test(found)) words.push({ text: found, at: index });
    else for (const pair of pairsOf(found)) words.push({ text: pair.text, at: index + pair.at });
  }
  return words;
}

/** The texts of {@link wordsOf}, for an index. */
export function tokenize(text: string): string[] {
  return wordsOf(text).map((word) => word.text);
}

/** Returns the form that is indexed: in one case and width, without the mark of an English plural. */
export function normalizeWord(word: string): string {
  const form = word.normalize('NFKC').toLowerCase();
  if (form.length > 4 && form.endsWith('ies')) return `${form.slice(0, -3)}y`;
  return form.length > 3 && /[^sui]s$/.test(form) ? form.slice(0, -1) : form;
}

function pairsOf(found: string): Word[] {
  const characters = Array.from(found);
  if (characters.length === 1) return [{ text: found, at: 0 }];
  const pairs: Word[] = [];
  let at = 0;
  for (let i = 0; i + 1 < characters.length; i++) {
    pairs.push({ text: characters[i]! + characters[i + 1]!, at });
    at += characters[i]!.length;
  }
  return pairs;
}
