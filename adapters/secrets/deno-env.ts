/** Secrets from the environment of the process. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { SecretSource } from '../../src/contracts/egress.ts';
import { Secret, type SecretOrigins } from '../../src/base/secret.ts';
import { requireDestination, secretOrigins, type UnboundSecrets } from '../../src/base/origins.ts';

export type { SecretSource } from '../../src/contracts/egress.ts';

/** The part of `Deno.env` that is used. */
export interface Environment {
  get(name: string): string | undefined;
  delete(name: string): void;
}

/** How secrets are named, where they may go, and what becomes of them. */
export interface DenoEnvSecretsOptions extends UnboundSecrets {
  /** By secret id, the origins that may receive it; `code` among them lets functions of the composition have it. */
  readonly origins?: Readonly<Record<string, readonly string[]>>;
  /** The prefix of the variables' names: letters, digits and `_`. */
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
 * Creates a source that reads `openai-key` from `PINNACE_SECRET_OPENAI_KEY`: the id in capitals, everything but letters and digits as
 * `_`. So `a-b` and `a.b` are one variable, with the same origins. An environment knows no tenants.
 *
 * A variable that is missing or empty is `not_found`, one that the process may not read (`--allow-env`) or delete `forbidden`;
 * where there is no `Deno.env` everything is `unavailable` with the reason `no_environment`.
 *
 * @throws PinnaceError `invalid_argument` for a prefix that no variable can start with, with the reason `invalid_secret_origin` for an
 * origin that is none, or for two ids of one variable with different origins.
 * @example
 * const secrets = denoEnvSecrets({ origins: { 'openai-key': ['https://api.openai.com'] } });
 */
export function denoEnvSecrets(options: DenoEnvSecretsOptions = {}): SecretSource {
  checkNames('create the source of secrets', options, optional('prefix', 'env', 'delete', 'origins', 'unboundSecrets'));
  const { prefix = 'PINNACE_SECRET_', env, delete: isDeleted = false, origins = {}, unboundSecrets } = options;
  if (!/^\w*$/.test(prefix)) {
    throw new PinnaceError('invalid_argument', 'Cannot use the prefix: it must be letters, digits and "_"');
  }
  const bound = originsByVariable(origins);
  const known = new Map<string, Secret>();
  let version = 0;
  return {
    async resolve({ id }, { scope }) {
      const variable = variableOf(id);
      const name = prefix + variable;
      const destinations = bound.get(variable) ?? secretOrigins(id, undefined, { unboundSecrets });
      const environment = env ?? environmentHere(id);
      const value = readVariable(environment, { id, name, isDeleted });
      const before = known.get(name);
      if (before && (value === before.reveal() || (value === undefined && isDeleted))) {
        return requireDestination(renamed(before, id), scope.origin);
      }
      known.delete(name);
      if (!value) throw new PinnaceError('not_found', `Cannot resolve secret "${id}": set ${name}`);
      const secret = new Secret({ id, version: String(++version), value, origins: destinations });
      known.set(name, secret);
      return requireDestination(secret, scope.origin);
    },
  };
}

function variableOf(id: string): string {
  return id.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}

/** By variable and not by id: an id that only reads the same variable must not lose its origins. */
function originsByVariable(origins: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, SecretOrigins> {
  const bound = new Map<string, SecretOrigins>();
  for (const [id, declared] of Object.entries(origins)) {
    const [variable, destinations] = [variableOf(id), secretOrigins(id, declared)];
    if (bound.has(variable) && String(bound.get(variable)) !== String(destinations)) {
      throw new PinnaceError(
        'invalid_argument',
        `Cannot bind secret "${id}": another id of its variable has other origins`,
        {
          details: { reason: 'invalid_secret_origin', secret: id },
        },
      );
    }
    bound.set(variable, destinations);
  }
  return bound;
}

function environmentHere(id: string): Environment {
  const { Deno: deno } = globalThis as { Deno?: { readonly env?: Environment } }; // safe: optional, so its absence is handled
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

/** Two ids may share a variable; each secret has the id of its request. */
function renamed(secret: Secret, id: string): Secret {
  if (secret.id === id) return secret;
  return new Secret({ id, version: secret.version, value: secret.reveal(), origins: secret.origins });
}
