import { describe, expect, it } from 'vitest';
import { stem } from '../../../src/search/terms.ts';
import { foldText, formOf, isSegmented, partsOf, visitWords, wordsOf } from '../../../src/search/words.ts';

describe('partsOf', () => {
  it.each([
    ['getUserName', ['get', 'user', 'name']],
    ['parseHTTPRequest', ['parse', 'http', 'request']],
    ['openPRs', ['open', 'prs']],
    ['URLsOfGPUs', ['urls', 'of', 'gpus']],
    ['HTTPServer AIs', ['http', 'server', 'ais']],
    ['DBsize IsOpen', ['d', 'bsize', 'is', 'open']],
    ['list_all-files.now', ['list', 'all', 'files', 'now']],
    ['base64 v2', ['base', '64', 'v', '2']],
    ['ÜberGröße', ['uber', 'grosse']],
    ['données météo', ['donnees', 'meteo']],
    ['погодаСегодня', ['погода', 'сегодня']],
    ['搜索游戏王', ['搜索', '索游', '游戏', '戏王']],
    ['get天気予報now', ['get', '天気', '気予', '予報', 'now']],
    ['날씨 예보', ['날씨', '예보']],
    ['雨', ['雨']],
    ['ｆｕｌｌ', ['full']],
    ['🚀 launch', ['🚀', 'launch']],
    ['__proto__', ['proto']],
    ['x'.repeat(100), ['x'.repeat(64)]],
    ['!?…', []],
    ['', []],
    ['\uD800 half', ['half']],
  ])('cuts %j into words', (text, words) => {
    expect(partsOf(text)).toEqual(words);
  });
});

describe('wordsOf', () => {
  it('has names beside their parts, and no words that are data', () => {
    expect(wordsOf('getUserName b64')).toEqual(['get', 'user', 'name', 'getusername', 'b', '64', 'b64']);
    expect(wordsOf('x'.repeat(100))).toEqual([]);
    expect(wordsOf('🚀 launch')).toEqual(['🚀', 'launch']);
  });

  it.each([
    ['co-operate', 'cooperate'],
    ['co\u2010operate', 'cooperate'],
    ['state\u2011of\u2011the-art', 'stateoftheart'],
    ['Zu-\nsammenarbeit', 'zusammenarbeit'],
    ['O’Brien’s', 'obriens'],
    ...['\u2012', '\u2013', '\u2212', '\ufe63', '\uff0d', '\u2043', '\u05be', '\u30a0', 'ʼ', '＇', '´', '\u00ad\n'].map(
      (
        mark,
      ) => [`co${mark}operate`, 'cooperate'],
    ),
  ])('has a whole for %j', (text, whole) => {
    expect(wordsOf(text)).toEqual([...partsOf(text), whole]);
  });

  it.each(['2024-03-05', 'a - b', 'a-\n\nb', 'a -b', 'Pier-7', "dogs' bones"])('has no whole for %j', (text) => {
    expect(wordsOf(text)).toEqual(partsOf(text));
  });

  it('adds longer words where the platform knows them, after their pairs and with their place', () => {
    const visited: [string, string][] = [];
    const text = 'ปิดวันอาทิตย์';
    visitWords(text, (word, from, to) => void visited.push([word, text.slice(from, to)]));
    expect(visited.filter(([word]) => !isSegmented(word)).map(([word]) => word)).toEqual(partsOf(text));
    for (const [word, written] of visited) expect(formOf(written)).toBe(word);
    expect(visited.some(([word]) => isSegmented(word))).toBe(true);
  });
});

describe('formOf', () => {
  it.each([
    ['soft hyphens', 'ge\u00adsamt\u00adkonzept', 'gesamtkonzept'],
    ['zero-width signs', 'mark\u200bup\u2060s\ufeff', 'markups'],
    ['sharp s in capitals', 'STRAẞE', 'strasse'],
    ['composed and decomposed letters', 'Ånge\u0301nieur', 'angenieur'],
    ['letters without a decomposition', 'Łódź', 'lodz'],
    ['letters of Iceland', 'Þórður', 'thordur'],
    ['width', 'Ｈａｒｂｏｒ２', 'harbor2'],
    ['ligatures', 'oﬃce', 'office'],
    ['dotted capitals', 'İSTANBUL', 'istanbul'],
    ['final sigma and tonos', 'Λιμένας', 'λιμενασ'],
    ['Arabic vowel marks', 'مَدْرَسَةٌ', 'مدرسه'],
    ['hamza on its letters', 'مسؤول', 'مسوول'],
    ['alef with madda', 'آلة', 'اله'],
    ['Persian letters and digits', 'کتابی۴', 'كتابي4'],
    ['tatweel', 'ســلام', 'سلام'],
    ['Hebrew points', 'שָׁלוֹם', 'שלום'],
    ['stress marks and ё', 'зелёный замо\u0301к', 'зеленый замок'],
    ['letters that marks make', 'й ї', 'й ї'],
    ['nasals of Devanagari', 'हिन्दी', 'हिंदी'],
    ['vowels of Indic scripts', 'हिंदी', 'हिंदी'],
    ['the dot of Devanagari', 'फ़ाइल', 'फाइल'],
    ['letters in circles and squares', 'Ⓟⓘⓔⓡ', 'pier'],
    ['kana of half width', 'ﾎﾟｰﾄ', 'ポート'],
  ])('writes %s in one way', (_, word, form) => {
    expect(formOf(word)).toBe(form);
    expect(formOf(word.normalize('NFD'))).toBe(form);
    expect(formOf(form)).toBe(form);
  });

  it('has one form of the marks that writing programs replace', () => {
    expect(foldText('“A” ‘b’ c‐d‑e–f—g−h e\u00admail')).toBe('"a" \'b\' c-d-e-f-g-h email');
  });

  it('keeps accents where only case and composition are folded', () => {
    expect(foldText('E\u0301T\u00c9')).toBe('été');
    expect(foldText('ΣΊΣΥΦΟΣ')).toBe('σίσυφοσ');
  });
});

describe('a word that is written in two ways', () => {
  it.each([
    ['apostrophes that are letters', 'зʼєднання', 'з’єднання'],
    ['kana of half width', '港のﾎﾟｰﾄ番号', '港のポート番号'],
    ['units in one character', '5 ㎞ ㏄', '5 km cc'],
  ])('has the same parts: %s', (_, one, other) => {
    expect(partsOf(one)).toEqual(partsOf(other));
  });

  it.each([
    ['الميناء', 'ميناء'],
    ['والسفينة', 'سفينة'],
    ['بالبحر', 'بحر'],
    ['للقبطان', 'قبطان'],
  ])('has the same term with the article of Arabic: %s', (one, other) => {
    expect(stem(formOf(one))).toBe(stem(formOf(other)));
  });

  it.each(['الله', 'الى', 'ولد'])('keeps what only looks like the article: %s', (word) => {
    expect(stem(formOf(word))).toBe(formOf(word));
  });
});
