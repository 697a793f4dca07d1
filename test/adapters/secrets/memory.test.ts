import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { type OpenSecrets, secretsContract } from '../../contracts/secrets.ts';

async function open(values: Readonly<Record<string, string>>): Promise<OpenSecrets> {
  const source = memorySecrets(values);
  return { source, set: async (secretId, value) => source.set(secretId, value) };
}

// Neither denies nor waits: whoever has it may resolve everything, at once.
describe('memorySecrets keeps the contract of a secret source', () => {
  it.each(secretsContract)('$name', async ({ run }) => {
    await expect(run({ open })).resolves.toBeUndefined();
  });
});
