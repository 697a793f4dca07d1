/** Types and helpers of the secrets checks. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { SecretScope, SecretSource } from '../../../src/contracts/egress.ts';
import type { Secret } from '../../../src/base/secret.ts';
import { assert } from '../assert.ts';

/** A source, and control over its backend. */
export interface OpenSecrets {
  readonly source: SecretSource;
  /** Sets or replaces a secret, which keeps its origins, or without a value removes it. */
  readonly set: (secretId: string, value: string | undefined) => Promise<void>;
}

/** A source whose secrets can be denied. */
export interface DeniableSecrets extends OpenSecrets {
  /** From now on this secret is denied. */
  readonly deny: (secretId: string) => Promise<void>;
}

/** A source that waits for something. */
export interface WaitingSecrets extends OpenSecrets {
  /** From now on the source gets no answer from what is behind it. */
  readonly stall: () => Promise<void>;
}

/** Secrets to check. Each check receives fresh ones, and opens them once. */
export interface SecretsSubject<Opened extends OpenSecrets = OpenSecrets> {
  /** Opens a source that has these secrets and no others, each declared for these origins; without origins, for none. */
  readonly open: (values: Readonly<Record<string, string>>, origins: readonly string[] | undefined) => Promise<Opened>;
}

/** One check, named by the fact that it proves. `run` rejects if the check fails. */
export interface SecretsCheck<Opened extends OpenSecrets = OpenSecrets> {
  readonly name: string;
  readonly run: (subject: SecretsSubject<Opened>) => Promise<void>;
}

export const origin = 'https://api.example.com';

/** The caller of the checks, and the origin that it uses. */
export const scope: SecretScope = { tenant: 'acme', agentId: 'helper', origin };

/** Requests a secret, as a run of the agent `helper` does. */
export function resolve(
  { source }: OpenSecrets,
  id: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Secret> {
  return source.resolve({ id }, { scope, signal });
}

/** Returns the error that the call rejects with, which must be a `PinnaceError`. */
export async function failureOf(call: () => Promise<unknown>): Promise<PinnaceError> {
  try {
    await call();
  } catch (error) {
    assert(error instanceof PinnaceError, 'The error is not a PinnaceError');
    return error;
  }
  throw new Error('The call did not reject');
}
