import { describe, expect, it } from 'vitest';
import { openAiCompatible } from '../../../adapters/models/openai-compatible.ts';
import { fault, only, run, secret, spy, statsOf } from './endpoint.ts';

describe('the key of openAiCompatible', () => {
  it('is read again for every request and not before', async () => {
    const { seen, fetch } = spy();
    let reads = 0;
    const apiKey = (): string => `${secret}-${++reads}`;
    const options = { ...fault('tool'), apiKey, fetch };
    openAiCompatible(options);
    expect(reads).toBe(0);
    await run(options);
    expect(seen.map((headers) => headers.get('authorization'))).toEqual([
      `Bearer ${secret}-1`,
      `Bearer ${secret}-2`,
    ]);
  });

  it('shows nowhere on the model', () => {
    const model = openAiCompatible({ ...fault('text'), headers: { 'x-key': secret } });
    expect(JSON.stringify(model)).not.toContain(secret);
    expect(everythingOn(model)).not.toContain(secret);
    expect(inspected(model)).not.toContain(secret);
    expect(() => structuredClone(model)).toThrow('could not be cloned');
    expect(() => structuredClone(model)).not.toThrow(new RegExp(secret));
    expect(Object.getPrototypeOf(model)).toBe(Object.prototype);
  });

  it('shows in no error when no header can carry it', async () => {
    const seen = await run({ ...fault('text', 'bad-key'), apiKey: () => `${secret}\n${secret}` });
    const [{ error } = { error: undefined }] = only(seen, 'error');
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_api_key' } });
    expect(everythingOn(error)).not.toContain(secret);
    expect(inspected(error)).not.toContain(secret);
    expect(await statsOf('bad-key')).toMatchObject({ requests: 0 });
  });

  it('may end in a line break, as keys from files do', async () => {
    const { seen, fetch } = spy();
    await run({ ...fault('text'), apiKey: `${secret}\n`, fetch });
    expect(seen.map((headers) => headers.get('authorization'))).toEqual([`Bearer ${secret}`]);
  });

  it.each(['429', '500', 'cut', 'no-finish', 'garbage', 'error-chunk', 'nothing'])(
    'shows in no error of an endpoint that answers with %s',
    async (model) => {
      const seen = await run(fault(model));
      const errors = [seen.thrown, ...only(seen, 'error').map(({ error }) => error)].filter(Boolean);
      expect(errors).not.toEqual([]);
      expect(errors.map(everythingOn).join('\n')).not.toContain(secret);
    },
  );

  it('comes back where an endpoint repeats it, so that the caller has to hide the text', async () => {
    const [{ error } = { error: undefined }] = only(await run(fault('401')), 'error');
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: 401, message: expect.stringContaining(secret) });
  });
});

/** Every text that own properties lead to, hidden ones too. */
function everythingOn(root: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const property = Object.getOwnPropertyDescriptor(value, key);
      if (typeof value === 'function' && ['arguments', 'caller'].includes(String(key))) continue;
      visit(property && 'value' in property ? property.value : property?.get?.call(value));
    }
    visit(Object.getPrototypeOf(value) === Function.prototype ? undefined : Object.getPrototypeOf(value));
  };
  visit(root);
  return texts.join('\n');
}

/** What a console would print, where the platform can say it. */
function inspected(value: unknown): string {
  const platform = globalThis as { Deno?: { inspect(value: unknown, options: object): string } };
  return platform.Deno?.inspect(value, { depth: 20, showHidden: true }) ?? String(value);
}
