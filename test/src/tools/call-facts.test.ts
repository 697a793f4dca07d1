import * as v from 'valibot';
import { describe, expect, inject, it } from 'vitest';
import { canonicalJson } from '../../../src/base/json.ts';
import { defineTool } from '../../../src/index.ts';
import { callFacts, describeCall, describedText } from '../../../src/tools/call-approval.ts';
import { visible } from '../../../src/base/text.ts';
import { runs } from '../../fixtures/budget.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

const payment = defineTool({
  id: 'pay',
  title: 'Pay',
  description: 'Pays',
  approval: 'always',
  input: v.looseObject({
    to: v.string(),
    amount: v.number(),
    memo: v.optional(v.string()),
    invoice: v.optional(v.looseObject({ number: v.string(), total: v.optional(v.number()) })),
    parts: v.optional(v.array(v.unknown())),
  }),
  execute: () => 'paid',
});

const textOf = async (input: unknown): Promise<string> => describedText(await describeCall(payment, input));

describe('the text of an approval', () => {
  it.each([
    ['a bidi override', '\u202Eevil', '\\u202eevil'],
    ['a zero-width space', 'a\u200Bb', 'a\\u200bb'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
    ['a next line', 'a\u0085b', 'a\\u0085b'],
    ['half of a surrogate pair', 'a\uD800b', 'a\\ud800b'],
    ['a tag character', 'a\u{E0041}b', 'a\\udb40\\udc41b'],
    ['a variation selector', 'a\uFE0Fb', 'a\\ufe0fb'],
    ['a filler that is drawn as nothing', 'a\u3164b', 'a\\u3164b'],
    ['another space', 'a\u00A0b', 'a\\u00a0b'],
    ['a soft hyphen', 'a\u00ADb', 'a\\u00adb'],
    ['an empty braille pattern', 'a\u2800b', 'a\\u2800b'],
    ['a mark over the quote', '\u0301a', '\\u0301a'],
  ])('escapes %s in names and values', async (_, raw, shown) => {
    const text = await textOf({ to: raw, amount: 1, [raw]: 1 });
    expect(text).toContain(`"to": "${shown}"`);
    expect(text).toContain(`Not declared: "${shown}": 1`);
  });

  it('leaves letters, signs and emoji of every script alone', async () => {
    const name = 'Ada Größe 東京 Привет مرحبا हिन्दी 🚢';
    expect(await textOf({ to: name, amount: 1 })).toContain(`"to": "${name}"`);
  });

  it('shows nested fields on lines of their own, declared ones first', async () => {
    const input = { to: 'a', amount: 1, invoice: { a: 'first', total: 7, number: 'R-1' } };
    expect((await textOf(input)).split('\n').slice(3)).toEqual([
      '"invoice"."number": "R-1"',
      '"invoice"."total": 7',
      'Not declared: "invoice"."a": "first"',
    ]);
  });

  it('shortens a long value with its length and hash, and hides nothing behind it', async () => {
    const fields = await callFacts({ memo: 'x'.repeat(9_000), to: 'b', amount: 1 }, payment.definition.paramsSchema);
    expect(fields.map(({ key }) => key)).toEqual(['"to"', '"amount"', '"memo"']);
    expect(fields[2]).toMatchObject({ shortened: { length: 9_000, sha256: expect.stringMatching(/^[0-9a-f]{16}$/) } });
    expect(fields[2]?.value.length).toBeLessThanOrEqual(240);
  });

  it('escapes what a permission rule says, on a line of its own', async () => {
    const text = describedText(await describeCall(payment, { to: 'a', amount: 1 }, { rule: 'Ask\n"to": "b"' }));
    expect(text.split('\n').at(-1)).toBe('Rule: Ask\\u000a"to": "b"');
  });
});

/** Values that collide where something is not escaped, cut or quoted. */
const pieces = [
  'a',
  'b',
  '"',
  '\\',
  '\n',
  ': ',
  '{',
  '}',
  '[0]',
  '.',
  '… (9 characters',
  '\u202E',
  '\u200B',
  '\\u200b',
  '\uD800',
  ' ',
  '\u00A0',
  '🚢',
  'x'.repeat(300),
];
const names = [
  'to',
  'amount',
  'memo',
  'invoice',
  'parts',
  'number',
  '"to"',
  'to\namount',
  '0',
  '__x',
  'Not declared: ',
];

function randomValue(random: () => number, depth = 0): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T; // there is one
  const kind = random();
  if (kind < 0.5 || depth > 6) return Array.from({ length: Math.floor(random() * 4) }, () => pick(pieces)).join('');
  if (kind < 0.7) return pick([0, 1, -1, 1e21, true, false, null]);
  const size = Math.floor(random() * (random() < 0.1 ? 60 : 4));
  if (kind < 0.85) return Array.from({ length: size }, () => randomValue(random, depth + 1));
  return Object.fromEntries(
    Array.from(
      { length: size },
      () => [random() < 0.7 ? pick(names) : pick(names) + pick(pieces), randomValue(random, depth + 1)],
    ),
  );
}

describe('the text of any input', () => {
  it('differs for different inputs, and has no line that starts outside its name', async () => {
    const random = randomNumbers(inject('sampleSeed'));
    const rounds = runs(4_000);
    const texts = new Map<string, string>();
    for (let round = 0; round < rounds; round++) {
      const input = Object.fromEntries(names.filter(() => random() < 0.3).map((name) => [name, randomValue(random)]));
      const text = await textOf(input);
      const json = canonicalJson(input);
      expect(texts.get(text) ?? json).toBe(json);
      texts.set(text, json);
      for (const line of text.split('\n').slice(1)) {
        expect(line).toMatch(/^(Not declared: )?(input|"(?:[^"\\]|\\.)*"…?[^:]*)/u);
        expect(visible(line)).toBe(line);
      }
    }
    expect(texts.size).toBeGreaterThan(rounds / 2);
  });
});
