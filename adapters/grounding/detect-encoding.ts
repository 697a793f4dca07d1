/** Finds the encoding of older text files that declare none: by the letters that are frequent in its languages. */

/** What is looked at, in bytes. */
const sampleLength = 16_384;
/** Fewer bytes beyond ASCII say nothing. */
const fewest = 8;

/** Frequent letters by encoding. Letters of other scripts stand beside each other, those of Latin beside ASCII. */
const letters: readonly (readonly [encoding: string, isLatin: boolean, frequent: string])[] = [
  ['windows-1252', true, 'äöüßéèàçñâêîôûëïùœåøæáíóúãõìò'],
  ['windows-1250', true, 'ąćęłńóśźżáčďéěíňřšťúůžőűäöüß'],
  ['iso-8859-2', true, 'ąćęłńóśźżáčďéěíňřšťúůžőűäöüß'],
  ['windows-1254', true, 'çğıöşüâîİ'],
  ['macintosh', true, 'äöüßéèàçñâêîôûëïùœåøæáíóúãõìò'],
  ['windows-1251', false, 'оеаинтсрвлкмдпуі'],
  ['koi8-r', false, 'оеаинтсрвлкмдпу'],
  ['iso-8859-5', false, 'оеаинтсрвлкмдпуі'],
  ['ibm866', false, 'оеаинтсрвлкмдпу'],
  ['windows-1253', false, 'αοιετσνηυρπκμλάέήίόύώς'],
  ['windows-1255', false, 'יוהלארמתשנב'],
  ['windows-1256', false, 'اليمونرتبةعدسف'],
];

const signs = new Set('“”‘’„‚–—…€§°©®«»•·\u00a0№');

/** Returns the encoding that fits best, Windows-1252 where none does. */
export function detectEncoding(bytes: Uint8Array<ArrayBuffer>): string {
  const sample = bytes.subarray(0, sampleLength);
  const high = sample.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0);
  if (high === 0) return isJis(sample) ? 'iso-2022-jp' : 'windows-1252';
  if (high < fewest) return 'windows-1252';
  if (isThai(sample)) return 'windows-874'; // its bytes are also those of pairs
  const pairs = pairEncodingOf(sample);
  if (pairs !== undefined) return pairs;
  let [best, most] = ['windows-1252', 0];
  for (const [encoding, isLatin, frequent] of letters) {
    const score = scoreOf(new TextDecoder(encoding).decode(sample), { isLatin, frequent: new Set(frequent) });
    if (score > most) [best, most] = [encoding, score];
  }
  return best;
}

/** Mostly frequent letters beyond ASCII, and each mark of Thai behind a letter. */
function isThai(sample: Uint8Array<ArrayBuffer>): boolean {
  const text = decoded(sample, 'windows-874').replace(/\p{ASCII}+/gu, ' ');
  if (/[\ufffd\u0080-\u009f]|(?<![\u0e01-\u0e2e\u0e31-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]/.test(text)) {
    return false;
  }
  const all = Array.from(text.replaceAll(' ', ''));
  return all.filter((letter) => thai.includes(letter)).length > all.length * 0.6;
}

const thai = 'านรอกเงมยลวดทสตะปบคห่้ัี์ิ';

/** ISO-2022-JP changes its sets by escapes (RFC 1468). */
function isJis(sample: Uint8Array): boolean {
  const text = new TextDecoder('windows-1252').decode(sample);
  return ['@', 'B'].some((set) => text.includes(`\x1b$${set}`));
}

/** East Asian encodings of two bytes: which of them are common characters tells them apart. */
function pairEncodingOf(sample: Uint8Array<ArrayBuffer>): string | undefined {
  const isWhole = (encoding: string): boolean => !decoded(sample, encoding).includes('\ufffd');
  const share = (encoding: string, pattern: RegExp): number => {
    const text = decoded(sample, encoding).replace(/\p{ASCII}/gu, '');
    return (text.match(pattern)?.length ?? 0) / Math.max(1, text.length);
  };
  for (const encoding of ['shift_jis', 'euc-jp']) {
    if (isWhole(encoding) && share(encoding, /[ぁ-んァ-ヶー]/g) > 0.2) return encoding;
  }
  const { pairs, hangul, gb, big } = leadsOf(sample);
  if (pairs * 2 < fewest) return undefined;
  if (hangul > pairs * 0.97 && isWhole('euc-kr')) return 'euc-kr';
  const isGb = gb > pairs * 0.7 && isWhole('gb18030');
  const isBig = big > pairs * 0.7 && isWhole('big5');
  if (isGb && isBig) return gb >= big ? 'gb18030' : 'big5';
  return isGb ? 'gb18030' : isBig ? 'big5' : undefined;
}

/** Without the last characters: the sample may end within one. */
function decoded(sample: Uint8Array<ArrayBuffer>, encoding: string): string {
  return new TextDecoder(encoding).decode(sample, { stream: true });
}

/** Counts pairs by the rows of common characters: Hangul, GB 2312 level 1, Big5 level 1, and the signs of each. */
function leadsOf(sample: Uint8Array) {
  const counts = { pairs: 0, hangul: 0, gb: 0, big: 0 };
  for (let at = 0; at + 1 < sample.length; at++) {
    const [lead = 0, trail = 0] = sample.subarray(at, at + 2);
    if (lead < 0x81) continue;
    at++;
    counts.pairs++;
    const isEuc = trail >= 0xa1;
    if (isEuc && (lead <= 0xa3 || (lead >= 0xb0 && lead <= 0xc8))) counts.hangul++;
    if (isEuc && (lead <= 0xa3 || (lead >= 0xb0 && lead <= 0xd7))) counts.gb++;
    if (lead >= 0xa1 && lead <= 0xc6 && trail >= 0x40) counts.big++;
  }
  return counts;
}

/** One for each frequent letter in its place; what no text has there counts against it. */
function scoreOf(text: string, { isLatin, frequent }: { isLatin: boolean; frequent: ReadonlySet<string> }): number {
  let score = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character <= '\x7f' || signs.has(character)) continue;
    const before = text[at - 1] ?? ' ';
    const isBesideAscii = /[a-z]/i.test(before) || /[a-z]/i.test(text[at + 1] ?? ' ');
    const isCapital = /\p{Lu}/u.test(character);
    const isAfterSmall = isCapital && /\p{Ll}/u.test(before);
    if (isCapital && /\p{Lu}/u.test(before)) continue; // capitals alone tell nothing
    if (!/[\p{L}\p{M}]/u.test(character) || isAfterSmall || (!isLatin && isBesideAscii)) score--;
    else if (!frequent.has(character.toLowerCase()) && !frequent.has(character)) score -= isLatin ? 0.5 : 0;
    else if (!isLatin || isBesideAscii) score++;
  }
  return score;
}
