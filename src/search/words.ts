/**
 * Cuts text into words, the same in every engine and on every platform: identifiers come apart, and scripts without spaces become pairs of
 * neighboring characters. `Intl.Segmenter` adds the longer words of those scripts where it knows them. Its dictionaries differ
 * between platforms, so nothing is found by these words alone.
 */

import { BoundedMap } from '../base/bounded-map.ts';

/** Receives a word as {@link formOf} returns it, and where it is, in UTF-16 code units. */
type VisitWord = (word: string, from: number, to: number) => void;

/** Says whether a word is worth visiting by where it starts. */
type WantWord = (text: string, from: number) => boolean;

const other = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const unspaced = 4;
const joiner = 5;
const invisible = 6;
const sign = 7;
const unknown = 255;

/** The kinds of the characters of the Basic Multilingual Plane, found as they are met. */
const kinds = /* @__PURE__ */ new Uint8Array(65_536).fill(unknown);

/** Their marks stand with them, also those of half width, and a mark of kana that was not composed. */
const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー\uff70\uff9e\uff9f\u3099\u309a]/u;

function kindOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const known = kinds[code]!;
  if (known !== unknown) return known;
  if (code >= 0xd800 && code <= 0xdfff) return kindOfPair(text, at);
  return kinds[code] = classify(String.fromCharCode(code));
}

function classify(character: string): number {
  if (character === '_' || character === '$') return joiner;
  if (/\p{Default_Ignorable_Code_Point}/u.test(character)) return invisible;
  // Numbers of a script are digits; those of Chinese are letters.
  if (unspacedScripts.test(character) && !/\p{Nd}/u.test(character)) return unspaced;
  if (/[\u02b9-\u02bd]/.test(character)) return other; // apostrophes, which most write as marks
  if (/\p{Lu}/u.test(character)) return upper;
  if (/[\p{L}\p{M}]/u.test(character)) return lower;
  if (/\p{N}/u.test(character)) return digit;
  if (/\p{So}/u.test(character) && /^\p{L}+$/u.test(character.normalize('NFKC'))) return lower; // ㎏, ⓒ
  return /\p{Extended_Pictographic}/u.test(character) ? sign : other;
}

/** Both halves of a surrogate pair are of the kind of the character. */
function kindOfPair(text: string, at: number): number {
  const isSecond = text.charCodeAt(at) >= 0xdc00;
  const character = String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) ?? 0);
  return character.length === 2 ? classify(character) : other;
}

/**
 * Visits the words of a text in order. `parseHTMLNode` is parse, html, node and parsehtmlnode; the whole comes after its parts,
 * with the place of all of them, and so does a word of three characters or more of a script without spaces. `co-operate` and one that
 * is divided at the end of a line have their wholes too. An emoji is a word. With `wanted`, words that it turns down may be left out.
 */
export function visitWords(text: string, visit: VisitWord, wanted?: WantWord): void {
  visitAll(text, { visit, wanted, wholes: true });
}

function visitAll(text: string, visitor: Visitor): void {
  let at = 0;
  let start = -1; // of words that marks join
  while (at < text.length) {
    const kind = kindOf(text, at);
    if (kind === unspaced) at = visitUnspaced(text, at, visitor);
    else if (kind === lower || kind === upper || kind === digit) {
      const from = start < 0 ? at : start;
      at = visitPlainWord(text, at, visitor) ?? visitIdentifier(text, at, visitor);
      const next = visitor.wholes ? joined(text, at) : at;
      if (next > at) [start, at] = [from, next];
      else if (start >= 0) {
        visitWhole(text, { from, to: at }, visitor);
        start = -1;
      }
    } else if (kind === sign) at = visitSign(text, at, visitor);
    else at++;
  }
}

/** Hyphens, dashes and apostrophes, and what keyboards and writing programs put in their place. */
const joins = /[\p{Pd}\u02d7\u2043\u2212'`´\u02b9-\u02bd\u2018\u2019\u2032\uff07]/u;
const ofWhole = new RegExp(`${joins.source}|[\\n_$]`, 'gu');

/** Where the word goes on behind the mark at its end, which may divide it between two lines; the end where it does not. */
function joined(text: string, at: number): number {
  if (at >= text.length) return at;
  if (text[at] === '\n' && text[at - 1] === '\u00ad' && kindOf(text, at + 1) === lower) return at + 1;
  if (!joins.test(text.charAt(at)) || !isLetter(text, at - 1)) return at;
  const isDivided = text[at + 1] === '\n' && /[-\u2010\u2011]/.test(text.charAt(at)) && kindOf(text, at + 2) === lower;
  const next = isDivided ? at + 2 : at + 1;
  return next < text.length && isLetter(text, next) ? next : at;
}

function isLetter(text: string, at: number): boolean {
  const kind = kindOf(text, at);
  return kind === lower || kind === upper;
}

function visitWhole(text: string, { from, to }: { from: number; to: number }, { visit, wanted }: Visitor): void {
  if (to - from > longestWord || (wanted && !wanted(text, from))) return;
  visit(formOf(text.slice(from, to).replace(ofWhole, '')), from, to);
}

function visitSign(text: string, at: number, { visit }: Visitor): number {
  const character = String.fromCodePoint(text.codePointAt(at)!);
  visit(character, at, at + character.length);
  return at + character.length;
}

/** Words longer than this are data, not language. */
const longestWord = 64;

interface Visitor {
  readonly visit: VisitWord;
  readonly wanted: WantWord | undefined;
  /** Whether names and longer words are visited beside their parts. Without them, what is too long is cut. */
  readonly wholes: boolean;
}

/** Visits what follows as one word, which most are, with one look at each character; or tells that it has parts. */
function visitPlainWord(text: string, start: number, visitor: Visitor): number | undefined {
  let at = start + 1;
  let kind: number = other;
  while (at < text.length && (kind = kinds[text.charCodeAt(at)]!) === lower) at++;
  if (at < text.length && kind !== other) return undefined;
  if (kindOf(text, start) === digit && at > start + 1) return undefined;
  visitPart(text, { from: start, to: at }, visitor);
  return at;
}

function visitPart(text: string, { from, to }: { from: number; to: number }, { visit, wanted, wholes }: Visitor): void {
  if (wanted && !wanted(text, from)) return;
  if (to - from <= longestWord) visit(formOf(text.slice(from, to)), from, to);
  else if (!wholes) visit(formOf(text.slice(from, from + longestWord)), from, to);
}

function visitIdentifier(text: string, start: number, visitor: Visitor): number {
  let [at, from, parts, before] = [start, start, 0, other];
  const emit = (to: number): void => {
    if (to <= from) return;
    parts++;
    visitPart(text, { from, to }, visitor);
  };
  for (; at <= text.length; at++) {
    const kind = at < text.length ? kindOf(text, at) : other;
    if ((kind === before && kind !== joiner) || kind === invisible) continue;
    if (kind === other || kind === unspaced || kind === sign) break;
    if (before === upper && kind === lower && isPlural(text, from, at)) continue; // the s belongs to them
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
  const { visit, wanted, wholes } = visitor;
  const isName = wholes && parts > 1 && at - start <= longestWord && (!wanted || wanted(text, start));
  if (isName) visit(formOf(text.slice(start, at).replace(/[_$]/g, '')), start, at);
  return at;
}

/** Whether the small letter is the s of a plural of capitals: `PRs`, `openURLsOf`. */
function isPlural(text: string, from: number, at: number): boolean {
  return text[at] === 's' && at - from > 1 && (at + 1 >= text.length || kindOf(text, at + 1) !== lower);
}

/** What a reader sees as one character: a syllable of Hangul, whether or not it is composed, or a letter with its marks. */
const characters =
  /(?:[\u1100-\u115f\ua960-\ua97c]+[\u1160-\u11a7\ud7b0-\ud7c6]*[\u11a8-\u11ff\ud7cb-\ud7fb]*|[^])[\p{M}\uff9e\uff9f\p{Default_Ignorable_Code_Point}]*/gu;

/** Each two neighbors are a word, and one alone is one too. */
function visitUnspaced(text: string, start: number, { visit, wholes }: Visitor): number {
  let end = start;
  while (end < text.length && isUnspaced(kindOf(text, end))) end++;
  const run = text.slice(start, end);
  const found = run.match(characters) ?? [];
  if (found.length === 1) visit(formOf(run), start, end);
  const words = longerWords(wholes ? run : '');
  let [at, word] = [0, words.next()];
  for (let i = 0; i + 1 < found.length; i++) {
    const next = at + found[i]!.length;
    const to = next + found[i + 1]!.length;
    visit(formOf(run.slice(at, to)), start + at, start + to);
    at = next;
    for (; !word.done && word.value[1] <= to; word = words.next()) {
      visit(formOf(run.slice(...word.value)), start + word.value[0], start + word.value[1]);
    }
  }
  return end;
}

function isUnspaced(kind: number): boolean {
  return kind === unspaced || kind === invisible;
}

let segmenter: Intl.Segmenter | null | undefined;

/** Where the words of three characters or more are; none where the platform cannot say. */
function* longerWords(run: string): Generator<readonly [from: number, to: number]> {
  if (run.length < 3) return;
  segmenter ??= typeof Intl === 'object' && 'Segmenter' in Intl
    ? new Intl.Segmenter('en', { granularity: 'word' })
    : null;
  for (const { segment, index, isWordLike } of segmenter?.segment(run) ?? []) {
    const isLong = isWordLike && segment.length >= 3 && segment.length <= longestWord;
    if (isLong && (segment.match(characters)?.length ?? 0) >= 3) yield [index, index + segment.length];
  }
}

/** Whether a word is one of `Intl.Segmenter`: of a script without spaces, and longer than a pair. */
export function isSegmented(word: string): boolean {
  return word.length > 2 && kindOf(word, 0) === unspaced && (word.match(characters)?.length ?? 0) > 2;
}

/** Whether a word is one character of a script without spaces: texts have it in pairs with its neighbors. */
export function isHalfPair(word: string): boolean {
  return word !== '' && kindOf(word, 0) === unspaced && word.match(characters)?.length === 1;
}

/** Returns the words of a text, as {@link visitWords} visits them. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  visitWords(text, (word) => void words.push(word));
  return words;
}

/** Returns the words of a text without those that others are parts of; a longer word is cut. */
export function partsOf(text: string): string[] {
  const words: string[] = [];
  visitParts(text, (word) => void words.push(word));
  return words;
}

/** Visits the words of {@link partsOf}. */
export function visitParts(text: string, visit: VisitWord): void {
  visitAll(text, { visit, wanted: undefined, wholes: false });
}

/** Whether two words differ by one typing slip: a letter too many, too few, another one, or two exchanged. */
export function isOneSlipAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a.charCodeAt(endA - 1) === b.charCodeAt(endB - 1)) {
    [endA, endB] = [endA - 1, endB - 1];
  }
  const [leftA, leftB] = [endA - start, endB - start];
  if (leftA <= 1 && leftB <= 1) return leftA + leftB > 0;
  return leftA === 2 && leftB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}

/** Characters that show nothing: soft hyphens, zero-width signs, marks of direction, selectors of variants. */
const showsNothing = /\p{Default_Ignorable_Code_Point}+/gu;
/** Marks that keyboards do not have, and writing programs put in their place. */
const dashes = /[\u2010-\u2015\u2212]/g;
const quotes = /[\u2018\u2019\u201b\u02bc\u2032]/g;
const doubleQuotes = /[\u201c-\u201f\u2033]/g;
/** Vowel marks of Arabic and Hebrew, which most texts leave out, with what is written on a letter in some spellings. */
const optionalMarks = /([\p{Script=Arabic}\p{Script=Hebrew}])[\p{M}\u0640]+|\u0640/gu;
/** Also the dot of Devanagari, which most texts leave out. */
const accents = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+|\u093c/gu;
/** A nasal before a consonant of Devanagari, which most texts write as a dot above: हिन्दी is हिंदी. */
const nasals = /[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u092d])/g;
/** Stress marks, and the dots of ё; those of й and ї make another letter. */
const cyrillicMarks = /([аеиоуыэюяіє])[\u0300\u0301]+|(е)\u0308/gu;
/** Letters that are one for who searches, and have no decomposition. */
const sameLetters: Readonly<Record<string, string>> = {
  'ς': 'σ',
  'ł': 'l',
  'ø': 'o',
  'đ': 'd',
  'ð': 'd',
  'þ': 'th',
  'ħ': 'h',
  'æ': 'ae',
  'œ': 'oe',
};
/** Forms of alef, yeh, kaf and heh that writers and keyboards exchange. */
const arabicLetters: Readonly<Record<string, string>> = {
  'ٱ': 'ا',
  'ى': 'ي',
  'ی': 'ي',
  'ک': 'ك',
  'ة': 'ه',
};
const latinToMap = /[ςłøđðþħæœ]/g;
const arabicToMap = /[ٱىیکة]/g;
const otherDigits = /[٠-٩۰-۹०-९]/g;

/**
 * Returns text in one case (ß is ss), width and composition, without invisible characters, and with one form for each Arabic letter
 * and no vowel marks in Arabic and Hebrew. Accents stay: `é` is not `e`.
 */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // Upper case has one spelling for ß and for a sigma; a capital ẞ becomes ß first.
  const folded = text.replace(showsNothing, '').normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()
    .replaceAll('ς', 'σ').replace(dashes, '-').replace(quotes, "'").replace(doubleQuotes, '"');
  if (!/[\u0590-\u07ff\u0966-\u096f]/.test(folded)) return folded.normalize('NFC');
  return folded.normalize('NFD').replace(optionalMarks, '$1').normalize('NFC')
    .replace(arabicToMap, (letter) => arabicLetters[letter]!).replace(otherDigits, (one) => String(digitOf(one)));
}

/** Words repeat: most are looked up. */
const mostKnown = 50_000;
const known = new BoundedMap<string, string>(mostKnown);

/** Returns a word as indexes have it: {@link foldText}, and without the accents of Latin, Greek and Cyrillic. */
export function formOf(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  const found = known.get(word);
  if (found !== undefined) return found;
  const form = foldText(word).normalize('NFD').replace(accents, '$1').replace(cyrillicMarks, '$1$2').normalize('NFC')
    .replace(nasals, '\u0902').replace(latinToMap, (letter) => sameLetters[letter]!);
  known.set(word, form);
  return form;
}

/** The value of a digit: each script has its ten in a row, from a multiple of 16 or six after it. */
function digitOf(one: string): number {
  const code = one.charCodeAt(0);
  return (code & 15) - (code >= 0x966 && code <= 0x96f ? 6 : 0);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}
