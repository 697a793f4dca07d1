/** Texts that an encoding hides: each is decoded once, and looked at like any other. */

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
