import { PinnaceError } from '../../src/errors.ts';
import type { SecretSource } from '../../src/ports.ts';
import { Secret } from '../../src/secret.ts';

/** Secrets in memory, gone with the process or the page. */
export interface MemorySecrets extends SecretSource {
  /** Sets or replaces a secret; `undefined` forgets it. */
  set(secretId: string, value: string | undefined): void;
}

/** Gives a source of secrets that holds them in memory. Whoever has it may resolve any of them. */
export function memorySecrets(values: Readonly<Record<string, string>> = {}): MemorySecrets {
  const secrets = new Map<string, Secret>();
  let version = 0;
  const set = (id: string, value: string | undefined): void => {
    if (value === undefined) secrets.delete(id);
    else secrets.set(id, new Secret({ id, version: String(++version), value }));
  };
  for (const [id, value] of Object.entries(values)) set(id, value);
  return {
    set,
    async resolve({ id }, { signal }) {
      if (signal.aborted) throw new PinnaceError('cancelled', `Cannot resolve secret "${id}": the call was stopped`);
      const secret = secrets.get(id);
      if (!secret) throw new PinnaceError('not_found', `Cannot resolve secret "${id}": it is not set`);
      return secret;
    },
  };
}
