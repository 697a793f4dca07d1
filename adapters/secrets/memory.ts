import { PinnaceError } from '../../src/base/errors.ts';
import type { SecretSource } from '../../src/contracts/egress.ts';
import { Secret } from '../../src/base/secret.ts';
import { requireDestination, secretOrigins, type UnboundSecrets } from '../../src/base/origins.ts';

/** A value, with the origins that may receive it; `code` among them lets functions of the composition have it. */
export interface BoundValue {
  readonly value: string;
  readonly origins: readonly string[];
}

/** Secrets in memory, which end with the process or the page. */
export interface MemorySecrets extends SecretSource {
  /** Sets or replaces a secret; a value alone does not change its origins. `undefined` removes the secret. */
  set(secretId: string, value: string | BoundValue | undefined): void;
}

/**
 * Creates a source of secrets that holds them in memory.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_secret_origin`, here and from `set`.
 * @example
 * const secrets = memorySecrets({ 'crm-key': { value, origins: ['https://crm.example.com'] } });
 */
export function memorySecrets(
  values: Readonly<Record<string, string | BoundValue>> = {},
  unbound: UnboundSecrets = {},
): MemorySecrets {
  const secrets = new Map<string, Secret>();
  let version = 0;
  const set: MemorySecrets['set'] = (id, given) => {
    if (given === undefined) {
      secrets.delete(id);
      return;
    }
    const { value, origins: declared } = typeof given === 'string' ? { value: given, origins: undefined } : given;
    const known = declared === undefined ? secrets.get(id)?.origins : undefined;
    const origins = known ?? secretOrigins(id, declared, unbound);
    secrets.set(id, new Secret({ id, version: String(++version), value, origins }));
  };
  for (const [id, value] of Object.entries(values)) set(id, value);
  return {
    set,
    async resolve({ id }, { scope, signal }) {
      if (signal.aborted) throw new PinnaceError('cancelled', `Cannot resolve secret "${id}": the call was stopped`);
      const secret = secrets.get(id);
      if (!secret) throw new PinnaceError('not_found', `Cannot resolve secret "${id}": it is not set`);
      return requireDestination(secret, scope.origin);
    },
  };
}
