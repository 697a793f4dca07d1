/** Cuts text into words, in every script: identifiers come apart, scripts without spaces become pairs of characters. */

/** Receives a word in lower case, and where it is, in UTF-16 code units. */
export type VisitWord = (word: string, from: number, to: number) => void;

/** Says whether a word is worth visiting by where it starts. */
export type WantWord = (text: string, from: number) => boolean;

const [other, lower, upper, digit, unspaced, joiner] = [0, 1, 2, 3, 4, 5];
const unknown = 255;

/** The kinds of the characters of the Basic Multilingual Plane, found as they are met. */
const kinds = new Uint8Array(65_536).fill(unknown);

const unspacedScripts = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const known = kinds[code]!;
  if (known !== unknown) return known;
  if (code >= 0xd800 && code <= 0xdfff) return kindOfPair(text, at);
  return kinds[code] = classify(String.fromCharCode(code));
}

function classify(character: string): number {
  if (character === '_' || character === '$') return joiner;
  if (unspacedScripts.test(character)) return unspaced;
  if (/\p{Lu}/u.test(character)) return upper;
  if (/[\p{L}\p{M}]/u.test(character)) return lower;
  return /\p{N}/u.test(character) ? digit : other;
}

/** Both halves of a surrogate pair are of the kind of the character. */
function kindOfPair(text: string, at: number): number {
  const isSecond = text.charCodeAt(at) >= 0xdc00;
  const character = String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) ?? 0);
  return character.length === 2 ? classify(character) : other;
}

/**
 * Visits the words of a text in order. `parseHTMLNode` is parse, html, node and parsehtmlnode; the whole comes after its parts,
 * with the place of all of them. With `wanted`, words that it turns down may be left out.
 */
export function visitWords(text: string, visit: VisitWord, wanted?: WantWord): void {
  const visitor: Visitor = { visit, wanted };
  let at = 0;
  while (at < text.length) {
    const kind = kindOf(text, at);
    if (kind === other || kind === joiner) at++;
    else if (kind === unspaced) at = visitPairs(text, at, visit);
    else at = visitPlainWord(text, at, visitor) ?? visitIdentifier(text, at, visitor);
  }
}

/** Words longer than this are data, not language. */
const longestWord = 64;

interface Visitor {
  readonly visit: VisitWord;
  readonly wanted: WantWord | undefined;
}

/** Visits what follows as one word, which most are, with one look at each character; or tells that it has parts. */
function visitPlainWord(text: string, start: number, visitor: Visitor): number | undefined {
  let at = start + 1;
  let kind: number = other;
  while (at < text.length && (kind = kinds[text.charCodeAt(at)]!) === lower) at++;
  if (at < text.length && kind !== other) return undefined;
  if (kindOf(text, start) === digit && at > start + 1) return undefined;
  const { wanted } = visitor;
  if (at - start <= longestWord && (!wanted || wanted(text, start))) {
    visitor.visit(formOf(text.slice(start, at)), start, at);
  }
  return at;
}

function visitIdentifier(text: string, start: number, { visit, wanted }: Visitor): number {
  let [at, from, parts, before] = [start, start, 0, other];
  const emit = (to: number): void => {
    if (to <= from) return;
    parts++;
    if (to - from <= longestWord && (!wanted || wanted(text, from))) visit(formOf(text.slice(from, to)), from, to);
  };
  for (; at <= text.length; at++) {
    const kind = at < text.length ? kindOf(text, at) : other;
    if (kind === before && kind !== joiner) continue;
    if (kind === other || kind === unspaced) break;
    if (before === upper && kind === lower) {
      emit(at - 1); // the last capital starts the next part
      from = Math.max(from, at - 1);
    } else if (before !== other) {
      if (before !== joiner) emit(at);
      from = at;
    }
    before = kind;
  }
  if (before !== joiner) emit(at);
  const isName = parts > 1 && at - start <= longestWord && (!wanted || wanted(text, start));
  if (isName) visit(formOf(text.slice(start, at).replace(/[_$]/g, '')), start, at);
  return at;
}

/** Each two neighbors are a word; one alone is one too. */
function visitPairs(text: string, start: number, visit: VisitWord): number {
  let end = start;
  while (end < text.length && kindOf(text, end) === unspaced) end++;
  const characters = Array.from(text.slice(start, end));
  if (characters.length === 1) visit(formOf(characters[0]!), start, end);
  let at = start;
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = characters[i]! + characters[i + 1]!;
    visit(formOf(pair), at, at + pair.length);
    at += characters[i]!.length;
  }
  return end;
}

/** Returns a word in one case and width, Latin letters without their accents. */
export function formOf(word: string): string {
  const small = word.toLowerCase();
  if (isAscii(small)) return small;
  const form = small.normalize('NFKC').toLowerCase();
  return /^\p{Script=Latin}/u.test(form) ? form.normalize('NFD').replace(/\p{M}/gu, '') : form;
}

function isAscii(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) > 127) return false;
  return true;
}

/** Returns the words of a text, as {@link visitWords} visits them. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  visitWords(text, (word) => void words.push(word));
  return words;
}
