/** Porter's stemmer (M. F. Porter, 1980): "listing", "listed" and "lists" become one term. */

const consonants = '[^aeiou][^aeiouy]*';
const vowels = '[aeiouy][aeiou]*';
/** Begins with at least one, exactly one, at least two changes from vowels to consonants. */
const measureOver0 = new RegExp(`^(?:${consonants})?${vowels}${consonants}`);
const measure1 = new RegExp(`^(?:${consonants})?${vowels}${consonants}(?:${vowels})?$`);
const measureOver1 = new RegExp(`^(?:${consonants})?(?:${vowels}${consonants}){2}`);
const hasVowel = new RegExp(`^(?:${consonants})?[aeiouy]`);
const endsShort = new RegExp(`^${consonants}[aeiouy][^aeiouwxy]$`);

const step2: Readonly<Record<string, string>> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
};
const step3: Readonly<Record<string, string>> = {
  icate: 'ic',
  ative: '',
  alize: 'al',
  iciti: 'ic',
  ical: 'ic',
  ful: '',
  ness: '',
};
const step2Ending = new RegExp(`^(.+?)(${Object.keys(step2).join('|')})$`);
const step3Ending = new RegExp(`^(.+?)(${Object.keys(step3).join('|')})$`);
const step4Ending =
  /^(.+?)(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/;

/** Returns the stem of an English word in lower case; any other text stays as it is. */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  const guarded = word.startsWith('y') ? `Y${word.slice(1)}` : word; // a first "y" is a consonant
  const short = endInY(pastAndGerund(plural(guarded)));
  const longer = replaceEnding(replaceEnding(short, step2Ending, step2), step3Ending, step3);
  return finalE(dropEnding(longer)).toLowerCase();
}

function plural(word: string): string {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function pastAndGerund(word: string): string {
  if (word.endsWith('eed')) return measureOver0.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const base = /^(.+?)(?:ed|ing)$/.exec(word)?.[1];
  if (base === undefined || !hasVowel.test(base)) return word;
  if (/(?:at|bl|iz)$/.test(base) || endsShort.test(base)) return `${base}e`;
  return /([^aeiouylsz])\1$/.test(base) ? base.slice(0, -1) : base;
}

function endInY(word: string): string {
  return word.endsWith('y') && hasVowel.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

function replaceEnding(word: string, ending: RegExp, by: Readonly<Record<string, string>>): string {
  const [, base, found] = ending.exec(word) ?? [];
  return base !== undefined && found !== undefined && measureOver0.test(base) ? base + (by[found] ?? '') : word;
}

function dropEnding(word: string): string {
  const base = step4Ending.exec(word)?.[1];
  return base !== undefined && measureOver1.test(base) ? base : word;
}

function finalE(word: string): string {
  const base = word.slice(0, -1);
  const drops = word.endsWith('e') && (measureOver1.test(base) || (measure1.test(base) && !endsShort.test(base)));
  const kept = drops ? base : word;
  return kept.endsWith('ll') && measureOver1.test(kept) ? kept.slice(0, -1) : kept;
}
