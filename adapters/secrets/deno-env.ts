/** Secrets from the environment of the process. */

import { PinnaceError } from '../../src/errors.ts';
import type { SecretSource } from '../../src/ports.ts';
import { Secret } from '../../src/secret.ts';

/** The part of `Deno.env` that is used. */
export interface Environment {
  get(name: string): string | undefined;
  delete(name: string): void;
}

/** How secrets are named, and what becomes of them. */
export interface DenoEnvSecretsOptions {
  /** Begins the names of the variables: letters, digits and `_`. */
  readonly prefix?: string;
  /** Instead of `Deno.env`. */
  readonly env?: Environment;
  /**
   * Whether a variable is deleted when it has been read, so that neither `Deno.env.toObject()` nor a child process has it. The
   * value then stays in this source, for as long as the process lives.
   */
  readonly delete?: boolean;
}

/**
 * Gives a source that reads `openai-key` from `PINNACE_SECRET_OPENAI_KEY`: the id in capitals, everything but letters and digits as
 * `_`. So `a-b` and `a.b` are one variable. Whoever has the source may resolve any of them; an environment knows no tenants.
 *
 * A variable that is missing or empty is `not_found`, one that the process may not read (`--allow-env`) or delete `forbidden`;
 * where there is no `Deno.env` everything is `unavailable` with the reason `no_environment`.
 *
 * @throws PinnaceError `invalid_argument` for a prefix that can begin no variable.
 */
export function denoEnvSecrets(options: DenoEnvSecretsOptions = {}): SecretSource {
  const { prefix = 'PINNACE_SECRET_', env, delete: isDeleted = false } = options;
  if (!/^\w*$/.test(prefix)) {
    throw new PinnaceError('invalid_argument', 'Cannot use the prefix: it must be letters, digits and "_"');
  }
  const known = new Map<string, Secret>();
  let version = 0;
  return {
    async resolve({ id }) {
      const name = prefix + id.toUpperCase().replace(/[^A-Z0-9]/g, '_');
      const environment = env ?? environmentHere(id);
      const value = readVariable(environment, { id, name, isDeleted });
      const before = known.get(name);
      if (before && (value === before.reveal() || (value === undefined && isDeleted))) return renamed(before, id);
      known.delete(name);
      if (!value) throw new PinnaceError('not_found', `Cannot resolve secret "${id}": set ${name}`);
      const secret = new Secret({ id, version: String(++version), value });
      known.set(name, secret);
      return secret;
    },
  };
}

function environmentHere(id: string): Environment {
  const { Deno: deno } = globalThis as { Deno?: { readonly env?: Environment } }; // safe: asked for, not taken for granted
  if (deno?.env) return deno.env;
  throw new PinnaceError('unavailable', `Cannot resolve secret "${id}": there is no Deno.env here; pass "env"`, {
    retryable: false,
    details: { reason: 'no_environment' },
  });
}

function readVariable(
  env: Environment,
  { id, name, isDeleted }: { readonly id: string; readonly name: string; readonly isDeleted: boolean },
): string | undefined {
  try {
    const value = env.get(name);
    if (isDeleted && value !== undefined) env.delete(name);
    return value;
  } catch {
    const advice = `run with --allow-env=${name}`;
    throw new PinnaceError('forbidden', `Cannot resolve secret "${id}": the process may not use ${name}; ${advice}`);
  }
}

/** Two ids may share a variable; each secret bears the id that it was asked for by. */
function renamed(secret: Secret, id: string): Secret {
  return secret.id === id ? secret : new Secret({ id, version: secret.version, value: secret.reveal() });
}
