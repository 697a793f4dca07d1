import { describe, expect, inject, it } from 'vitest';
import { isNetworkError } from '../../../../src/base/network.ts';

const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
};
const { faults } = inject('peers');
const withBody: RequestInit = { body: 'text' };
const missing = undefined as unknown as { readonly fetch: { readonly network: string } };

describe('isNetworkError in this engine', () => {
  it('is true for a host that refuses the connection', async () => {
    expect(isNetworkError(await thrownBy(() => fetch('http://127.0.0.1:1/')))).toBe(true);
  });

  it('is true for a host that does not exist', async () => {
    expect(isNetworkError(await thrownBy(() => fetch('http://nowhere.invalid/')))).toBe(true);
  });

  it('is true for a body that breaks off', async () => {
    const url = `${faults}/cut/network-error/chat/completions`;
    const body = JSON.stringify({ model: 'cut', stream: true, messages: [{ role: 'user', content: 'cut' }] });
    const { body: answer } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const reader = answer!.getReader();
    const error = await thrownBy(async () => {
      while (!(await reader.read()).done);
    });
    expect(isNetworkError(error), String(error)).toBe(true);
  });

  it.each<[string, () => unknown]>([
    ['a property of undefined', () => missing.fetch],
    ['a call of undefined', () => (undefined as unknown as () => void)()],
    ['an address that is none', () => fetch('http://')],
    ['a header name that is none', () => fetch(faults, { headers: { 'a b': 'c' } })],
    ['a GET with a body', () => fetch(faults, withBody)],
    ['a JSON text that is none', () => JSON.parse('{')],
  ])('is false for %s', async (_name, work) => {
    const error = await thrownBy(work);
    expect(isNetworkError(error), String(error)).toBe(false);
  });
});
