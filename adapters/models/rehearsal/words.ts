/** Words as the rehearsal model compares them: split at case and punctuation, lower case, without their endings. */

const stopWords = new Set(
  ('a about after again all also am an and any anything are around as at be been but by can could did do does doing each else ' +
    'every few for from get give given go going got had has have hello help her here hey hi him his how i if in into is it its just kindly ' +
    'know let like make many me more most much my need no not of off ok okay on once one only or other our out over own please ' +
    'see shall she should show so some something such tell than thank thanks that the their them then there these they thing ' +
    'things this those through to too up us use using very via want was we well were what when where which while who whose why ' +
    'will with would yes you your').split(' '),
);

/** General words that people exchange for one another when they speak of tools. */
const groups: readonly (readonly string[])[] = [
  ['weather', 'forecast', 'temperature', 'rain', 'sunny'],
  ['calculate', 'compute', 'math', 'arithmetic', 'evaluate', 'solve', 'calculator'],
  ['time', 'clock', 'date', 'today', 'oclock', 'hour'],
  ['find', 'search', 'look', 'discover', 'lookup', 'seek'],
  ['create', 'make', 'add', 'new', 'insert', 'register'],
  ['delete', 'remove', 'erase', 'drop'],
  ['update', 'change', 'edit', 'modify', 'set', 'rename'],
  ['list', 'enumerate', 'overview'],
  ['send', 'mail', 'email', 'write', 'message', 'notify'],
  ['read', 'fetch', 'open', 'retrieve', 'download', 'view', 'page'],
  ['remember', 'memorize', 'save', 'store', 'keep', 'note'],
  ['convert', 'conversion', 'exchange', 'transform'],
  ['translate', 'translation', 'language'],
  ['describe', 'explain', 'detail', 'info'],
  ['load', 'activate', 'enable'],
  ['add', 'sum', 'plus', 'addition', 'total'],
  ['roll', 'throw', 'dice', 'die'],
  ['delay', 'wait', 'sleep', 'pause'],
];

const endings = [
  'ations,ation,ators,ator,ating,ated,ates,ate,ions,ion,ings,ing,ments,ment,als,al,ers,er,ors,or',
  'ed,es,s,e,ly',
].join(',').split(',');

const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Returns the words of a text in order; scripts without spaces come as pairs of characters. */
export function wordsOf(text: string): readonly string[] {
  const split = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  const words = split.toLowerCase().replace(/[’']s\b/gu, '').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => cjk.test(word) ? pairsOf(word) : [word]);
}

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word);
  return characters.length < 3 ? [word] : characters.slice(1).map((next, i) => `${characters[i]}${next}`);
}

/** Returns a word without its ending: `calculator`, `calculating` and `calculation` are one. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word)) return word;
  const ending = endings.find((end) => word.endsWith(end) && word.length - end.length >= 3 + Number(end.length > 2));
  const base = ending === undefined ? word : word.slice(0, -ending.length);
  return base.length > 3 ? base.replace(/([bdfglmnprt])\1$/, '$1') : base;
}

/** Returns the stems of the words that carry meaning. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).filter((word) => !stopWords.has(word)).map(stem));
}

/** Returns the stems of all words. */
export function allStemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).map(stem));
}

/** Whether a word says too little to be compared. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word.toLowerCase());
}

const relatives = new Map<string, ReadonlySet<string>>();
for (const group of groups) {
  const stems = new Set(group.map(stem));
  for (const one of stems) relatives.set(one, stems.union(relatives.get(one) ?? new Set()));
}

/** Returns the stems of words with a like meaning, the stem itself among them. */
export function relativesOf(stemmed: string): ReadonlySet<string> {
  return relatives.get(stemmed) ?? new Set([stemmed]);
}
