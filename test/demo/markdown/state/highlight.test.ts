import { describe, expect, it } from 'vitest';
import { highlight, longest } from '../../../../demo/markdown/state/highlight.ts';

describe('highlight', () => {
  it.each([
    ['ts', 'const a: number = 1; // one'],
    ['TypeScript', 'export async function f() { return `a${1 + 1}b`; }'],
    ['python', 'def f(x):\n    return "a" + x  # why'],
    ['json', '{"a": [1, true, null]}'],
    ['html', '<p class="a">b</p><script>let a = 1;</script>'],
    ['sh', 'npm install --save "a b" # now'],
    ['sql', "select 'a' from b where c = 1"],
  ])('tells the kinds and loses no character: %s', async (language, code) => {
    const tokens = await highlight(code, language) ?? [];
    expect(tokens.map(({ text }) => text).join('')).toBe(code);
    expect(tokens.some(({ kind }) => kind !== undefined)).toBe(true);
  });

  it('leaves unknown languages and long code in one color', async () => {
    expect(await highlight('a b', 'klingon')).toBeUndefined();
    expect(await highlight('a b', 'constructor')).toBeUndefined();
    expect(await highlight('1;'.repeat(longest), 'js')).toBeUndefined();
  });
});
