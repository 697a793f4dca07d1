import { describe, expect, it } from 'vitest';
import { modelSource } from '../../../adapters/models/source.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Provider } from '../../../src/base/schema.ts';
import { Secret } from '../../../src/base/secret.ts';
import { scriptedEgress } from '../../fixtures/egress.ts';
import { platformEgress } from '../../fixtures/platform-egress.ts';

function provider(fields: Partial<Provider>): Provider {
  return { id: 'acme', kind: 'openai-compatible', version: '1.0.0', state: 'active', revision: 1, ...fields };
}

const egress = await platformEgress({});

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];

function refusal(make: () => unknown): PinnaceError {
  try {
    make();
  } catch (error) {
    if (error instanceof PinnaceError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown');
}

describe('modelSource', () => {
  it('reveals the secret when a request is sent, and shows it nowhere before', async () => {
    const origins = ['https://api.example.com'];
    const secret = new Secret({ id: 'acme-key', version: '1', value: 'sk-0123456789', origins });
    const scripted = scriptedEgress([() => Promise.reject(new TypeError('no network'))]);
    const source = modelSource({ egress: scripted.egress });
    const model = source.model(provider({ baseUrl: 'https://api.example.com/v1', model: 'm' }), secret);
    expect([JSON.stringify(source), JSON.stringify(model)].join()).not.toContain('sk-');
    expect(scripted.sent).toEqual([]);
    await expect(model.doStream({ prompt })).rejects.toMatchObject({ name: 'AI_APICallError', isRetryable: true });
    expect(scripted.sent.map(({ headers }) => headers['authorization'])).toEqual(['Bearer sk-0123456789']);
  });

  it('returns one model for many runs, and another for another secret, address, model or setting', async () => {
    const secretOf = (value: string) =>
      new Secret({ id: 'key', version: '1', value, origins: ['https://api.example.com'] });
    const [first, second] = [secretOf('sk-first'), secretOf('sk-second')];
    const scripted = scriptedEgress([1, 2, 3].map(() => () => Promise.reject(new TypeError('no network'))));
    const source = modelSource({ egress: scripted.egress });
    const acme = { baseUrl: 'https://api.example.com/v1', model: 'm' };
    const model = source.model(provider(acme), first);
    expect(source.model(provider({ ...acme, revision: 2 }), first)).toBe(model);
    const others = [{ model: 'n' }, { baseUrl: 'https://api.example.com/v2' }, { jsonSchema: true }, { id: 'other' }];
    for (const other of others) expect(source.model(provider({ ...acme, ...other }), first)).not.toBe(model);
    for (const secret of [first, second, undefined]) {
      await expect(source.model(provider(acme), secret).doStream({ prompt })).rejects.toThrow('Cannot connect to API');
    }
    expect(scripted.sent.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer sk-first',
      'Bearer sk-second',
      undefined,
    ]);
  });

  it('sends the schema of an answer and the headers of the agent, and the key of the provider alone', async () => {
    const secret = new Secret({ id: 'k', version: '1', value: 'sk-0123456789', origins: ['https://api.example.com'] });
    const scripted = scriptedEgress([() => Promise.reject(new TypeError('no network'))]);
    const fields = { baseUrl: 'https://api.example.com/v1', model: 'm' };
    const schema = { type: 'object' } as const;
    const formats: unknown[] = [];
    for (const jsonSchema of [true, undefined]) {
      const model = modelSource({ egress: scripted.egress }).model(provider({ ...fields, jsonSchema }), secret);
      const options = { prompt, headers: { 'x-team': 'maps' }, responseFormat: { type: 'json', schema } } as const;
      await expect(model.doStream(options)).rejects.toMatchObject({ name: 'AI_APICallError' });
      const { headers, body } = scripted.sent.at(-1)!;
      expect(headers).toMatchObject({ 'x-team': 'maps', authorization: 'Bearer sk-0123456789' });
      formats.push((JSON.parse(body) as { readonly response_format: unknown }).response_format);
    }
    expect(formats).toMatchObject([{ type: 'json_schema', json_schema: { schema } }, { type: 'json_object' }]);
  });

  it('names the field that a provider of kind openai-compatible lacks', () => {
    const source = modelSource({ egress });
    const baseUrl = 'https://api.example.com/v1';
    for (const [fields, name] of [[{ model: 'm' }, 'baseUrl'], [{ baseUrl }, 'model']] as const) {
      const error = refusal(() => source.model(provider(fields), undefined));
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_provider' } });
      expect(error.message).toContain('Cannot serve provider "acme"');
      expect(error.message).toContain(`"${name}"`);
    }
  });

  it('returns the rehearsal model with the options for it', async () => {
    const source = modelSource({ rehearsal: { delayMs: 0, seed: 3 } });
    const model = source.model(provider({ kind: 'rehearsal' }), undefined);
    expect(model.provider).toBe('rehearsal');
    expect(await model.doGenerate({ prompt })).toEqual(await rehearsal({ delayMs: 0, seed: 3 }).doGenerate({ prompt }));
  });

  it('refuses a custom provider that it does not know, and lists those that it does', () => {
    const source = modelSource({ custom: { local: () => rehearsal() } });
    for (const id of ['acme', 'constructor', '__proto__']) {
      const error = refusal(() => source.model(provider({ id, kind: 'custom' }), undefined));
      expect(error.code).toBe('invalid_argument');
      expect(error.message).toContain('it has "local"');
    }
  });

  it('refuses a kind that it does not know', () => {
    const foreign = { ...provider({}), kind: 'telepathy' } as unknown as Provider; // as a newer catalog could send it
    expect(refusal(() => modelSource().model(foreign, undefined))).toMatchObject({
      code: 'invalid_argument',
      message: 'Cannot serve a provider of kind "telepathy"',
    });
  });
});
