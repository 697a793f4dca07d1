/** One spelling for text that says the same: case, width, composed letters, optional marks and invisible characters. */

import { BoundedMap } from '../base/bounded-map.ts';

/** Characters that show nothing: soft hyphens, zero-width signs, marks of direction, selectors of variants. */
const invisible = /\p{Default_Ignorable_Code_Point}+/gu;
/** Vowel marks of Arabic and Hebrew, which most texts leave out, with what is written on a letter in some spellings. */
const optionalMarks = /([\p{Script=Arabic}\p{Script=Hebrew}])[\p{M}\u0640]+|\u0640/gu;
const accents = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu;
/** Stress marks, and the dots of ё; those of й and ї make another letter. */
const cyrillicMarks = /([аеиоуыэюяіє])[\u0300\u0301]+|(е)\u0308/gu;
/** Letters that are one for who searches, and have no decomposition. */
const sameLetters: Readonly<Record<string, string>> = {
  'ς': 'σ',
  'ł': 'l',
  'ø': 'o',
  'đ': 'd',
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
const latinToMap = /[ςłøđħæœ]/g;
const arabicToMap = /[ٱىیکة]/g;
const otherDigits = /[٠-٩۰-۹०-९]/g;

/**
 * Returns text in one case (ß is ss), width and composition, without invisible characters, and with one form for each Arabic letter
 * and no vowel marks in Arabic and Hebrew. Accents stay: `é` is not `e`.
 */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // Upper case has one spelling for ß and for a sigma; a capital ẞ becomes ß first.
  const folded = text.replace(invisible, '').normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll(
    'ς',
    'σ',
  );
  if (!/[\u0590-\u07ff\u0966-\u096f]/.test(folded)) return folded.normalize('NFC');
  return folded.normalize('NFD').replace(optionalMarks, '$1').normalize('NFC')
    .replace(arabicToMap, (letter) => arabicLetters[letter]!).replace(otherDigits, (digit) => String(digitOf(digit)));
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
    .replace(latinToMap, (letter) => sameLetters[letter]!);
  known.set(word, form);
  return form;
}

/** The value of a digit: each script has its ten in a row, from a multiple of 16 or six after it. */
function digitOf(digit: string): number {
  const code = digit.charCodeAt(0);
  return (code & 15) - (code >= 0x966 && code <= 0x96f ? 6 : 0);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}
