import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type Redactor } from '../../../../src/permission/redaction/redactor.ts';
import { patternsOf } from '../../../../src/permission/redaction/patterns.ts';
import { runs } from '../../../fixtures/budget.ts';
import vectors from '../../../fixtures/vectors/redaction-cases.json?raw'; // it holds halves of characters, which the bundler refuses

interface Vectors {
  readonly secrets: readonly string[];
  readonly cases: readonly {
    readonly secret: string;
    readonly encoding: string;
    readonly chunkSize: number;
    readonly chunks: readonly string[];
    readonly mustNotContain: string;
  }[];
}

const cases = JSON.parse(vectors) as Vectors;
/** With what forms, queries and paths each treat in their own way. */
const values = [...cases.secrets, "it's (a) {key}! ~*^`|9/x=ü"];
const secrets = values.map((value, i) => ({ id: `s${i}`, value }));
const redactor = createRedactor(secrets);

async function through(stream: TransformStream<string, string>, chunks: readonly string[]): Promise<string> {
  const source = new ReadableStream<string>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let text = '';
  for await (const chunk of source.pipeThrough(stream)) text += chunk;
  return text;
}

function inPieces({ begin }: Redactor, parts: readonly string[]): string {
  const { push, end } = begin();
  return parts.map(push).join('') + end();
}

describe('createRedactor', () => {
  it.each(cases.cases)(
    'takes out $encoding of $secret in chunks of $chunkSize',
    async ({ chunks, mustNotContain, secret }) => {
      const out = await through(redactor.stream(), chunks);
      expect(out).not.toContain(mustNotContain);
      expect(out).not.toContain(secret);
      expect(out).toMatch(/^before .*\[secret s\d\].* after$/su);
      expect(out).toBe(redactor.text(chunks.join('')));
    },
  );

  it('takes out what is JSON in JSON in JSON, and HTML in JSON', () => {
    const value = 'p@ss"w\\ord\'<x>&y';
    const again = (text: string): string => JSON.stringify(text).slice(1, -1);
    const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(
      '"',
      '&quot;',
    );
    const forms = [
      value,
      again(value),
      again(again(value)),
      again(again(again(value))),
      html,
      again(html),
      again(again(html)),
    ];
    const { text } = createRedactor([{ id: 'a', value }]);
    expect(text(forms.join(' '))).toBe(forms.map(() => '[secret a]').join(' '));
  });

  it('takes out a text that is the shortest secret and nothing else', async () => {
    const shortest = createRedactor([{ id: 'a', value: 'abcdefgh' }]);
    expect([shortest.text('abcdefgh'), shortest.text('abcdefg')]).toEqual(['[secret a]', 'abcdefg']);
    expect(await through(shortest.stream(), ['abcdefgh'])).toBe('[secret a]');
  });

  it('says which secret it was', () => {
    const [first, second] = cases.secrets;
    expect(redactor.text(`a ${first} b ${second}${first} c`)).toBe('a [secret s0] b [secret s1][secret s0] c');
  });

  it('leaves other text as it is', () => {
    const text = 'sk-live- sk-live-4f9aZ_q-77Kd0Lm p@ss \uD800 🔑 [secret s9]';
    expect(redactor.text(text)).toBe(text);
    expect(createRedactor([]).text(text)).toBe(text);
  });

  it.each(['', 'hunter2', '1234567'])('refuses the short secret %j without repeating it', (value) => {
    expect(() => createRedactor([{ id: 'short', value }])).toThrow(
      'Cannot redact secret "short": its value must have at least 8 visible characters',
    );
  });

  it.each([
    ['upper case', 'SK-LIVE-4F9AZ_Q-77KD0LM2'],
    ['mixed case', 'sK-lIVE-4f9Az_Q-77kD0lm2'],
    ['a Kelvin sign and a long s', '\u017fk-live-4f9aZ_q-77\u212ad0Lm2'],
    ['zero-width spaces', Array.from('sk-live-4f9aZ_q-77Kd0Lm2').join('\u200b')],
    ['a word joiner, a byte order mark and a soft hyphen', 'sk-\u2060live\ufeff-4f9aZ_\u00adq-77Kd0Lm2'],
    ['marks of direction', 'sk-\u202elive-4f9aZ_q\u202c-77Kd0Lm2'],
    ['tags, which are two code units each', 'sk-\u{e0041}\u{e007f}live-4f9aZ_q-77Kd0Lm2'],
    ['variation selectors', 'sk-\ufe0flive-4f9aZ_q-\u{e0101}77Kd0Lm2'],
    ['upper case and zero-width joiners', Array.from('SK-LIVE-4F9AZ_Q-77KD0LM2').join('\u200d\u200c')],
    [
      'percent-encoding of every byte in mixed case',
      '%73%6B%2d%6C%69%76%65%2D%34%66%39%61%5a%5F%71%2d%37%37%4b%64%30%4C%6d%32',
    ],
  ])('removes a secret written with %s, wherever it is cut', (_, written) => {
    const one = createRedactor([{ id: 'a', value: 'sk-live-4f9aZ_q-77Kd0Lm2' }]);
    const text = `\u200bx\u{e0041} ${written}\u200b y\u200d`;
    const expected = '\u200bx\u{e0041} [secret a]\u200b y\u200d';
    expect(one.text(text)).toBe(expected);
    for (let at = 0; at <= text.length; at++) expect(inPieces(one, [text.slice(0, at), text.slice(at)])).toBe(expected);
    expect(inPieces(one, text.split(''))).toBe(expected);
  });

  it.each([
    ['stra\u00dfe-\u00e4\u00f6\u00fc-stadt', 'STRASSE-\u00c4\u00d6\u00dc-STADT'],
    [
      '\u03c3\u03bf\u03c6\u03cc\u03c2-\u03bb\u03cc\u03b3\u03bf\u03c2',
      '\u03a3\u039f\u03a6\u038c\u03a3-\u039b\u038c\u0393\u039f\u03a3',
    ],
    ['key-\u{10428}\u{10429}-word', 'KEY-\u{10400}\u{10429}-WORD'],
    ['pass\u200bword-1', 'PASSWORD-1'],
  ])('removes %j written as %j', (value, written) => {
    const one = createRedactor([{ id: 'a', value }]);
    expect(inPieces(one, `x ${written} y`.split(''))).toBe('x [secret a] y');
    expect(one.text(`x ${value} y`)).toBe('x [secret a] y');
  });

  it('refuses a secret with fewer than 8 visible characters', () => {
    expect(() => createRedactor([{ id: 'a', value: 'abc\u200b\u200b\u200b\u200b\u200b' }])).toThrow(
      'at least 8 visible',
    );
  });

  it('holds a bounded number of invisible characters, and loses none outside of a possible secret', () => {
    const { push, end } = createRedactor([{ id: 'a', value: 'abcdefgh' }]).begin();
    const run = '\u200b'.repeat(5000);
    expect(push(`x${run}`)).toBe(`x${run}`);
    let out = push('a');
    for (let i = 0; i < 100; i++) out += push(run);
    out += push('bcdefg');
    expect(out).toBe('');
    expect(push('x') + end()).toBe('abcdefgx');
    const hidden = Array.from('abcdefgh').join(run);
    expect(push(`x${hidden}y`) + end()).toBe('x[secret a]y');
    expect(Array.from(hidden).map(push).join('') + end()).toBe('[secret a]');
  });

  it('takes time in proportion to the text, also with an invisible character after each other one', () => {
    const { text } = createRedactor([{ id: 'a', value: 'aaaaaaaaab' }, { id: 'b', value: 'cccccccc' }]);
    const units = 400_000;
    expect(text('a\u200b'.repeat(units))).toBe('a\u200b'.repeat(units));
    expect(text('cccccccc\u200b\u200bx'.repeat(units / 8))).toBe('[secret b]\u200b\u200bx'.repeat(units / 8));
  });

  it('finds a secret whose white space was trimmed on its way', () => {
    expect(createRedactor([{ id: 'a', value: ' spaced-secret\n' }]).text('x=spaced-secret;')).toBe('x=[secret a];');
  });

  it('finds the longer of two secrets with a common prefix, and both of two that overlap', () => {
    const two = createRedactor([{ id: 'short', value: 'abcdefgh' }, { id: 'long', value: 'abcdefghij' }]);
    expect(two.text('abcdefghij abcdefghi')).toBe('[secret long] [secret short]i');
    const overlapping = createRedactor([{ id: 'a', value: 'abcdefgh' }, { id: 'b', value: 'efghijkl' }]);
    expect(overlapping.text('abcdefghijkl')).toBe('[secret a]');
  });

  it('does not delay ordinary text', () => {
    const { push, end } = createRedactor([{ id: 's0', value: 'sk-live-4f9aZ_q-77Kd0Lm2' }]).begin();
    expect(push('The quick brown fox ')).toBe('The quick brown fox ');
    expect(push('jumps sk-li')).toBe('jumps ');
    expect(push('mit')).toBe('sk-limit');
    expect(end()).toBe('');
  });

  it('holds no more than the longest form of a secret, however often one follows another', () => {
    const { push, end } = createRedactor([{ id: 'a', value: 'aaaaaaaa' }]).begin();
    let out = '';
    for (let i = 0; i < 10_000; i++) out += push('aaa');
    expect(out + push('b') + end()).toBe('[secret a]b');
  });

  it('keeps the halves of a character together', () => {
    const { push, end } = redactor.begin();
    const out = [push('x\uD83D'), push('\uDD11'), push('\uD83D'), end()];
    expect(out).toEqual(['x', '🔑', '', '\uD83D']);
  });

  it('starts over after the end', () => {
    const { push, end } = redactor.begin();
    const half = cases.secrets[0]?.slice(0, 10) ?? '';
    expect([push(half), end(), push('x'), end()]).toEqual(['', half, 'x', '']);
  });
});

type Encode = (secret: string, salt: string) => string;

const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)];
const base64 = (text: string): string => btoa(String.fromCharCode(...bytesOf(text)));
const hex = (text: string): string => bytesOf(text).map((byte) => byte.toString(16).padStart(2, '0')).join('');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const ascii = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Written apart from the patterns: what programs really do. The salt stands around the secret where an encoding mixes them. */
const encodings: Readonly<Record<string, Encode>> = {
  raw: (secret) => secret,
  json,
  jsonTwice: (secret) => json(json(secret)),
  jsonAscii: (secret) => ascii(json(secret)),
  jsonSlash: (secret) => json(secret).replaceAll('/', '\\/'),
  jsonHtml: (secret) => json(secret).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026'),
  html: (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  component: encodeURIComponent,
  componentLower: (secret) => encodeURIComponent(secret).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  componentTwice: (secret) => encodeURIComponent(encodeURIComponent(secret)),
  uri: encodeURI,
  form: (secret) => new URLSearchParams({ k: secret }).toString().slice(2),
  path: (secret) => new URL(`https://x.example/${secret}`).pathname.slice(1),
  query: (secret) => new URL(`https://x.example/?${secret}`).search.slice(1),
  everyByte: (secret) => bytesOf(secret).map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  hex,
  hexUpper: (secret) => hex(secret).toUpperCase(),
};
const mixing: Readonly<Record<string, Encode>> = {
  base64: (secret, salt) => base64(salt + secret),
  base64Inside: (secret, salt) => base64(`${salt}${secret}${salt}!`),
  base64Url: (secret, salt) => base64(salt + secret).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
};

const cut = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 });

function pieces(text: string, sizes: readonly number[]): string[] {
  const parts: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return parts;
}

describe('createRedactor, anywhere', () => {
  const around = fc.string({ unit: 'grapheme', maxLength: 20 });
  const placed = fc.constantFrom(...values);

  it('lets no secret through, at any position, encoding and cut', () => {
    fc.assert(
      fc.property(
        around,
        placed,
        around,
        fc.constantFrom(...Object.values(encodings)),
        cut,
        (before, secret, after, encode, sizes) => {
          const encoded = encode(secret, '');
          const out = inPieces(redactor, pieces(`${before}|${encoded}|${after}`, sizes));
          expect(out).not.toContain(encoded);
          expect(out).toBe(`${before}|[secret s${values.indexOf(secret)}]|${after}`);
        },
      ),
      { numRuns: runs(16_000) },
    );
  });

  it('lets no secret through in another case and with invisible characters between, however it is cut', () => {
    const between = fc.constantFrom('', '', '\u200b', '\u200d\ufeff', '\u00ad', '\u{e0041}');
    fc.assert(
      fc.property(
        around,
        placed,
        around,
        fc.array(between, { minLength: 1 }),
        fc.array(fc.boolean(), { minLength: 1 }),
        cut,
        (before, secret, after, hidden, upper, sizes) => {
          const letters = Array.from(secret).map((letter, i) =>
            (upper[i % upper.length] ?? false) && letter !== '\u00df' ? letter.toUpperCase() : letter
          );
          const written = letters.map((letter, i) => i === 0 ? letter : (hidden[i % hidden.length] ?? '') + letter)
            .join('');
          const out = inPieces(redactor, pieces(`${before}|${written}|${after}`, sizes));
          expect(out).toBe(`${before}|[secret s${values.indexOf(secret)}]|${after}`);
        },
      ),
      { numRuns: runs(4000) },
    );
  });

  it('leaves at most the mixed characters of base64', () => {
    const salt = fc.stringMatching(/^[a-z0-9:]{0,6}$/);
    fc.assert(
      fc.property(
        salt,
        placed,
        around,
        fc.constantFrom(...Object.values(mixing)),
        cut,
        (own, secret, after, encode, sizes) => {
          const encoded = encode(secret, own);
          const out = inPieces(redactor, pieces(`|${encoded}|${after}`, sizes));
          const marker = `[secret s${values.indexOf(secret)}]`;
          expect(out.startsWith('|') && out.includes(marker) && out.endsWith(`|${after}`)).toBe(true);
          const [left = ''] = out.slice(1).split(marker);
          const saltOnly = base64(own).replaceAll('=', '').slice(0, -1).length;
          expect(left.length).toBeLessThanOrEqual(saltOnly + 4);
          const right = out.slice(1 + left.length + marker.length, -1 - after.length);
          expect(right.length).toBeLessThanOrEqual(base64(`${own}!`).length + 4);
        },
      ),
      { numRuns: runs(4000) },
    );
  });

  it('does what looking for each form alone would do', () => {
    // Secrets are taken from the text, with and without a changed end, so that they stand there, begin there, and overlap.
    const text = fc.stringMatching(/^[ab]{20,60}$/);
    const part = fc.tuple(fc.nat(50), fc.integer({ min: 8, max: 24 }), fc.constantFrom('', '', 'c'));
    fc.assert(
      fc.property(text, fc.array(part, { minLength: 1, maxLength: 5 }), cut, (given, parts, sizes) => {
        const slices = parts.map(([at, length, end]) => given.slice(at % (given.length - 8)).slice(0, length) + end);
        const own = createRedactor(slices.map((value) => ({ id: 'x', value })));
        expect(inPieces(own, pieces(given, sizes))).toBe(bruteForce(slices, given));
      }),
      { numRuns: runs(3000) },
    );
  });
});

/** Marks every unit that an occurrence covers, and joins occurrences that overlap. */
function bruteForce(slices: readonly string[], text: string): string {
  const spans = slices.flatMap(patternsOf).flatMap((form) =>
    Array.from(text, (_, at) => at).filter((at) => text.startsWith(form, at)).map((at) =>
      [at, at + form.length] as const
    )
  ).toSorted(([a], [b]) => a - b);
  let out = '';
  let end = 0;
  for (const [from, to] of spans) {
    if (from >= end) out += `${text.slice(end, from)}[secret x]`;
    end = Math.max(end, to);
  }
  return out + text.slice(end);
}
