import { describe, expect, it } from 'vitest';
import { denoEnvSecrets, type DenoEnvSecretsOptions, type Environment } from '../../../adapters/secrets/deno-env.ts';
import type { Secret } from '../../../src/base/secret.ts';
import { type DeniableSecrets, deniableSecretsContract } from '../../contracts/secrets.ts';

function variableOf(secretId: string): string {
  return `PINNACE_SECRET_${secretId.toUpperCase().replace(/[-.]/g, '_')}`;
}

/** What Deno throws where a permission is missing. */
function denied(): Error {
  return Object.assign(new Error('Requires env access'), { name: 'NotCapable' });
}

function fakeEnv(variables: Readonly<Record<string, string>>): { env: Environment; held: Map<string, string> } {
  const held = new Map(Object.entries(variables));
  return { held, env: { get: (name) => held.get(name), delete: (name) => void held.delete(name) } };
}

async function open(
  values: Readonly<Record<string, string>>,
  origins: readonly string[] | undefined,
): Promise<DeniableSecrets> {
  const { held } = fakeEnv(Object.fromEntries(Object.entries(values).map(([id, value]) => [variableOf(id), value])));
  const deniedNames = new Set<string>();
  const get = (name: string): string | undefined => {
    if (deniedNames.has(name)) throw denied();
    return held.get(name);
  };
  return {
    source: denoEnvSecrets({
      env: { get, delete: (name) => void held.delete(name) },
      ...(origins && { origins: Object.fromEntries(Object.keys(values).map((id) => [id, origins])) }),
    }),
    set: async (id, value) => {
      if (value === undefined) held.delete(variableOf(id));
      else held.set(variableOf(id), value);
    },
    deny: async (id) => void deniedNames.add(variableOf(id)),
  };
}

function resolve(id: string, options: DenoEnvSecretsOptions): Promise<Secret> {
  return resolveFrom(denoEnvSecrets({ unboundSecrets: 'allow', ...options }), id);
}

function resolveFrom(source: ReturnType<typeof denoEnvSecrets>, id: string): Promise<Secret> {
  const { signal } = new AbortController();
  return source.resolve({ id }, { scope: { tenant: 'acme', agentId: 'helper' }, signal });
}

describe('denoEnvSecrets keeps the contract of a secret source that denies', () => {
  it.each(deniableSecretsContract)('$name', async ({ run }) => {
    await expect(run({ open })).resolves.toBeUndefined();
  });
});

describe('denoEnvSecrets', () => {
  it('reads the variable of the id in capitals, with what is neither letter nor digit as an underscore', async () => {
    const { env } = fakeEnv({ PINNACE_SECRET_OPENAI_KEY_V2: 'sk-live-1', MY_A: 'sk-live-2', A: 'sk-live-3' });
    expect((await resolve('openai.key-v2', { env })).reveal()).toBe('sk-live-1');
    expect((await resolve('a', { env, prefix: 'MY_' })).reveal()).toBe('sk-live-2');
    expect((await resolve('a', { env, prefix: '' })).reveal()).toBe('sk-live-3');
  });

  it('takes an empty variable for a missing one, and says which to set', async () => {
    const { env } = fakeEnv({ PINNACE_SECRET_A: '' });
    await expect(resolve('a', { env })).rejects.toMatchObject({ code: 'not_found' });
    await expect(resolve('a', { env })).rejects.toThrow('Cannot resolve secret "a": set PINNACE_SECRET_A');
  });

  it('deletes the variable after reading it when asked to, and keeps returning the value', async () => {
    const { env, held } = fakeEnv({ PINNACE_SECRET_A: 'sk-live-1', PINNACE_SECRET_B: 'sk-live-2' });
    const source = denoEnvSecrets({ env, delete: true, unboundSecrets: 'allow' });
    const first = await resolveFrom(source, 'a');
    expect([...held.keys()]).toEqual(['PINNACE_SECRET_B']);
    const again = await resolveFrom(source, 'a');
    expect([again.reveal(), again.version]).toEqual(['sk-live-1', first.version]);
    held.set('PINNACE_SECRET_A', 'sk-live-3');
    const renewed = await resolveFrom(source, 'a');
    expect(renewed.reveal()).toBe('sk-live-3');
    expect(renewed.version).not.toBe(first.version);
    held.set('PINNACE_SECRET_A', '');
    await expect(resolveFrom(source, 'a')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('deletes nothing unless asked to', async () => {
    const { env, held } = fakeEnv({ PINNACE_SECRET_A: 'sk-live-1' });
    await resolve('a', { env });
    expect(held.size).toBe(1);
  });

  it('is forbidden when the variable may be read but not deleted', async () => {
    const env: Environment = {
      get: () => 'sk-live-1',
      delete: () => {
        throw denied();
      },
    };
    await expect(resolve('a', { env, delete: true })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(resolve('a', { env, delete: true })).rejects.toThrow('--allow-env=PINNACE_SECRET_A');
  });

  it('resolves two ids of one variable to the same value, each under its own id', async () => {
    const { env } = fakeEnv({ PINNACE_SECRET_A_B: 'sk-live-1' });
    const source = denoEnvSecrets({ env, unboundSecrets: 'allow' });
    const both = [await resolveFrom(source, 'a-b'), await resolveFrom(source, 'a.b')];
    expect(both.map(({ id, version }) => [id, version])).toEqual([['a-b', '1'], ['a.b', '1']]);
    expect(both.map(String)).toEqual(['[secret a-b]', '[secret a.b]']);
  });

  it('binds every id of a variable to the origins of one, so that another spelling frees nothing', async () => {
    const { env } = fakeEnv({ PINNACE_SECRET_A_B: 'sk-live-1' });
    const origin = 'https://api.example.com';
    const source = denoEnvSecrets({ env, origins: { 'a-b': [origin] }, unboundSecrets: 'allow' });
    for (const id of ['a-b', 'a.b', 'A_B']) {
      await expect(resolveFrom(source, id)).rejects.toMatchObject({ details: { reason: 'secret_origin_mismatch' } });
      const scope = { tenant: 'acme', agentId: 'helper', origin };
      const { signal } = new AbortController();
      expect((await source.resolve({ id }, { scope, signal })).reveal()).toBe('sk-live-1');
    }
    const twice = { 'a-b': [origin], 'a.b': ['https://evil.example.com'] };
    expect(() => denoEnvSecrets({ origins: twice })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  it.each(['A=', 'A B', 'Ä', 'A-'])('refuses the prefix %j', (prefix) => {
    expect(() => denoEnvSecrets({ prefix })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  it.skipIf('Deno' in globalThis)('is unavailable where there is no Deno.env', async () => {
    await expect(resolve('a', {})).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      details: { reason: 'no_environment' },
    });
  });
});
