import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';

const assets = join(inject('playgroundFolder'), 'assets');
const names = (await readdir(assets)).filter((name) => name.endsWith('.js'));
/** Every file of the build, the worker's among them. */
const code = await Promise.all(names.map(async (name) => ({ name, text: await readFile(join(assets, name), 'utf8') })));

describe('the browser bundle', () => {
  it('has the page and the worker', () => {
    expect(code.some(({ name, text }) => name.includes('worker') && text.includes('doStream'))).toBe(true);
  });

  it.each([
    ['WebAssembly', /\bWebAssembly\b/],
    ['a Node built-in', /(?:from|import\()\s*["'`]node:|\brequire\(\s*["'`]/],
    ['eval', /[^.\w]eval\(/],
    ['a function made of text', /new Function\(/],
  ])('has no %s', (_what, forbidden) => {
    const found = code.flatMap(({ name, text }) => {
      const at = text.search(forbidden);
      return at < 0 ? [] : [`${name}: ${text.slice(Math.max(0, at - 60), at + 60)}`];
    });
    expect(found).toEqual([]);
  });
});
