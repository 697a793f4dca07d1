/** Characters that people do not see: where they belong to the spelling of a script, and where they hide something. */

const joined =
  '\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Nkoo}\\p{scx=Thaa}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}\\p{scx=Java}\\p{scx=Bali}';

/** Single characters between letters of scripts that are spelled with them. None of these stands next to another. */
const spelling: readonly RegExp[] = [
  /\p{RGI_Emoji}/gv,
  /(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]/gu,
  /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})/gu,
  new RegExp(`(?<=[${joined}])[\\u200b-\\u200d](?=[${joined}])`, 'gu'),
  new RegExp(`(?<=[${joined}])\\u200d(?![\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\w])`, 'gu'),
  /(?<![\u200b-\u200f\u202a-\u202e\u2060-\u206f])[\u200e\u200f\u061c](?![\u200b-\u200f\u202a-\u202e\u2060-\u206f])/gu,
  /(?<=\p{scx=Mong})[\u180b-\u180f]/gu,
  /(?<=\p{scx=Khmr})[\u17b4\u17b5]/gu,
  /(?<=\p{scx=Hani})[\ufe00-\ufe02\u{e0100}-\u{e01ef}](?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])/gu,
  /(?<=\p{L})\u00ad(?=\p{Ll})/gu,
  /^\ufeff/u,
  /[\u2028\u2029]/gu,
];

const hiddenRanges: readonly (readonly [number, number])[] = [
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f], // zero width, and marks of direction
  [0x202a, 0x202e], // overrides of direction
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f], // variation selectors
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff], // tags: whole sentences can be hidden in them
];
const hidden = new RegExp(
  `[${hiddenRanges.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join('-')).join('')}]`,
  'gu',
);

export function hiddenCharacters(text: string): boolean {
  if (text.search(hidden) < 0) return false;
  const isRightToLeft = /[\u05d0-\u07ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text);
  const rest = spelling.reduce((left, one) => {
    const isMark = one.source.includes('\\u061c]');
    return isMark && !isRightToLeft ? left : left.replace(one, '');
  }, text);
  return rest.search(hidden) >= 0;
}

export function controlCharacters(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(text);
}

export function oddCharacters(text: string): boolean {
  return /\p{Co}/u.test(text) || !text.isWellFormed();
}

/** The letters of other scripts that look like Latin ones. */
const lookalikes: Readonly<Record<string, string>> = Object.fromEntries(
  [...'ІIЈJЅSаaеeоoрpсcуyхxіiјjѕsԁdһhӏlАAВBЕEКKМMНHОOРPСCТTУYХXαaοoρpνvιiκkΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'.matchAll(
    /../gu,
  )]
    .map(([pair]) => Array.from(pair) as [string, string]),
);

export function mixesScripts(text: string): boolean {
  const words = text.normalize('NFKC').match(/\p{L}{3,}/gu) ?? [];
  return words.some((word) => /[a-z]/i.test(word) && Array.from(word).some((letter) => letter in lookalikes));
}

/** Returns the text as a reader takes it: other widths, hidden characters, and letters of other scripts inside Latin words read as what they look like. */
export function plainText(text: string): string {
  const visible = text.normalize('NFKC').replace(hidden, '');
  return visible.replace(
    /[\p{L}]+/gu,
    (word) =>
      /[a-z]/i.test(word) && /[^\p{scx=Latn}]/u.test(word)
        ? Array.from(word).map((letter) => lookalikes[letter] ?? letter).join('')
        : word,
  );
}

const maxRuns = 50;

/** Returns what the encoded runs of a text say, where it is readable. */
export function decodings(text: string): readonly string[] {
  const found = [
    ...runs(text, /(?<![\w+/-])[\w+/-]{16,}={0,2}(?![\w+/-])/g).flatMap((run) => [fromBase64(run), fromHex(run)]),
    ...runs(text, /(?:\b[0-9a-f]{2}[\s:,-]){7,}[0-9a-f]{2}\b/gi).map((run) => fromHex(run.replaceAll(/[\s:,-]/g, ''))),
    ...(/(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]+\}){3}/i.test(text) ? [fromEscapes(text)] : []),
    ...(/(?:%[0-9a-f]{2}){3}/i.test(text) ? [fromPercent(text)] : []),
    ...(/(?:&#x?[0-9a-f]+;){3}/i.test(text) ? [fromEntities(text)] : []),
    ...(/rot[- ]?13/i.test(text) ? [rot13(text)] : []),
    ...(/revers/i.test(text) ? [Array.from(text).toReversed().join('')] : []),
  ];
  return found.filter((one) => one !== undefined);
}

function runs(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].slice(0, maxRuns).map(([run]) => run);
}

/** Only what reads as a text: a hash and an id are nothing encoded. */
function readable(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\s]+$/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function fromBase64(run: string): string | undefined {
  const plain = run.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  if (plain.length % 4 === 1) return undefined;
  try {
    return readable(Uint8Array.from(atob(plain), (letter) => letter.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

function fromHex(run: string): string | undefined {
  if (run.length % 2 === 1 || !/^[0-9a-f]+$/i.test(run)) return undefined;
  return readable(Uint8Array.from(run.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
}

function fromEscapes(text: string): string {
  return text.replaceAll(
    /\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}/gi,
    (all, two, four, more) => characterOf(Number.parseInt(two ?? four ?? more, 16)) ?? all,
  );
}

function fromEntities(text: string): string {
  return text.replaceAll(
    /&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi,
    (all, hex, decimal) => characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)) ?? all,
  );
}

function characterOf(code: number): string | undefined {
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function fromPercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return undefined;
  }
}

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode((letter.charCodeAt(0) - first + 13) % 26 + first);
  });
}
