import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRepairedJson, readData } from '../../../src/base/json.ts';
import { wellFormed, WholeTexts } from '../../../src/base/text.ts';
import { budget } from '../../fixtures/budget.ts';

const anyText = fc.array(fc.constantFrom('a', 'é', '🚣', '\ud83d', '\ude00', '水'), { maxLength: 8 }).map((parts) =>
  parts.join('')
);
const anyData = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyText,
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** Whether no text of the data has a half; `JSON.stringify` writes one as an escape. */
function isWhole(data: unknown): boolean {
  return !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(data));
}

describe('wellFormed', () => {
  it('repairs every text and key, and returns the same object where nothing is to be repaired', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        const repaired = wellFormed(data);
        expect(isWhole(repaired)).toBe(true);
        expect(wellFormed(repaired)).toBe(repaired);
        if (isWhole(data)) expect(repaired).toBe(data);
        if (typeof data === 'string') expect(repaired).toBe(data.toWellFormed());
      }),
      { numRuns: budget({ short: 300, long: 5_000 }) },
    );
  });

  it('leaves data that is too deep, contains itself, or is no JSON as it is', () => {
    const own: { a: string; self?: unknown; again?: unknown } = { a: '\ud83d' };
    own.self = own.again = own;
    for (const data of [own, new Date(0), new Uint8Array(3), undefined]) expect(wellFormed(data)).toBe(data);
  });
});

describe('parseRepairedJson', () => {
  it('refuses two keys that become one', () => {
    expect(() => parseRepairedJson('{"\\ud83d":1,"\\ud83e":2}')).toThrow('the same key twice');
  });
});

describe('readData', () => {
  it('repairs texts, and refuses what is no JSON', () => {
    expect(readData({ text: 'cut \ud83d' })).toEqual({ text: 'cut \ufffd' });
    expect(() => readData({ text: 'cut \ud83d', at: new Date(0) })).toThrow('not plain');
  });
});

describe('WholeTexts', () => {
  it('makes of any pieces the text that the whole would be, and never shows a half', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat({ max: 16 })), (text, cuts) => {
        const texts = new WholeTexts();
        const at = [0, ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => texts.next('t', text.slice(at[i], end)));
        const shown = [...pieces, texts.end('t')];
        for (const piece of shown) expect(piece.isWellFormed()).toBe(true);
        expect(shown.join('')).toBe(text.toWellFormed());
        expect(texts.end('t')).toBe('');
      }),
      { numRuns: budget({ short: 500, long: 10_000 }) },
    );
  });
});
