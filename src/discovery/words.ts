/** Cuts text and identifiers into words, the same for tools and for queries. */

const cjk = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー`;
/** `parseHTTPRequest2` -> parse, HTTP, Request, 2. An emoji is a word of its own. */
const camelBoundary = /[a-z](?=[A-Z])|[A-Z](?=[A-Z][a-z])/g;
const asciiWord = /[a-z]+|[0-9]+/g;
const word = new RegExp(
  String
    .raw`[${cjk}]+|\p{Lu}+(?!\p{Ll})|\p{Lu}?[[\p{Ll}\p{Lt}\p{Lo}\p{Lm}\p{M}]--[${cjk}]]+|\p{N}+|\p{Extended_Pictographic}`,
  'gv',
);
const inCjk = new RegExp(`^[${cjk}]`, 'v');
// oxlint-disable-next-line no-control-regex -- the range of ASCII is what is meant
const ascii = /^[\x00-\x7F]*$/;

/** Gives the words in lower case: camelCase, snake_case and kebab-case are split, Chinese, Japanese and Korean become pairs. */
export function wordsOf(text: string): string[] {
  if (ascii.test(text)) return text.replace(camelBoundary, '$& ').toLowerCase().match(asciiWord) ?? [];
  return (text.normalize('NFKC').match(word) ?? []).flatMap((found) =>
    inCjk.test(found) ? pairs(found) : found.toLowerCase()
  );
}

/** These scripts put no space between words: each two neighbours count as one. */
function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}
