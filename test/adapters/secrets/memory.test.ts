import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { type OpenSecrets, secretsContract } from '../../contracts/secrets.ts';

async function open(
  values: Readonly<Record<string, string>>,
  origins: readonly string[] | undefined,
): Promise<OpenSecrets> {
  const bound = Object.entries(values).map(([id, value]) => [id, origins ? { value, origins } : value] as const);
  const source = memorySecrets(Object.fromEntries(bound));
  return { source, set: async (secretId, value) => source.set(secretId, value) };
}

// Neither denies nor waits: its holder may resolve everything, at once.
describe('memorySecrets keeps the contract of a secret source', () => {
  it.each(secretsContract)('$name', async ({ run }) => {
    await expect(run({ open })).resolves.toBeUndefined();
  });
});

describe('memorySecrets', () => {
  const scope = { tenant: 'acme', agentId: 'helper', origin: 'https://crm.example.com' };
  const signal = new AbortController().signal;

  it('resolves secrets without origins for any destination where the composition allows unbound ones, and bound ones still to their own', async () => {
    const bound = { value: 'sk-2', origins: ['https://other.example.com'] };
    const source = memorySecrets({ free: 'sk-1', bound }, { unboundSecrets: 'allow' });
    expect((await source.resolve({ id: 'free' }, { scope, signal })).reveal()).toBe('sk-1');
    source.set('bound', 'sk-3');
    await expect(source.resolve({ id: 'bound' }, { scope, signal })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('refuses a text in place of a list of origins', () => {
    const origins = 'https://crm.example.com' as never; // as JavaScript lets one write it
    expect(() => memorySecrets({ key: { value: 'sk-1', origins } })).toThrow(
      'Cannot bind secret "key" to "https://crm.example.com": write a list of origins such as ["https://crm.example.com"]',
    );
  });

  it.each(['https://crm.example.com/', 'crm.example.com', '*', 'https://*.example.com', 'ftp://a.example', ''])(
    'takes no "%s" for an origin',
    (origin) => {
      const make = () => memorySecrets({ key: { value: 'sk-1', origins: [origin] } });
      expect(make).toThrow(expect.objectContaining({ details: { reason: 'invalid_secret_origin', secret: 'key' } }));
    },
  );
});
