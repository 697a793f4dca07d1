/**
 * The rules of the `SecretSource` port as lists of named checks. They know no test runner: give each check a fresh subject, in a
 * test named like the check.
 *
 * @example
 * for (const { name, run } of secretsContract) it(name, () => run(freshSubject()));
 */

import { bindingChecks } from './secrets/binding.ts';
import type { DeniableSecrets, SecretsCheck, WaitingSecrets } from './secrets/check.ts';
import { denyingChecks, waitingChecks } from './secrets/refusing.ts';
import { resolvingChecks } from './secrets/resolving.ts';

export type { DeniableSecrets, OpenSecrets, SecretsCheck, SecretsSubject, WaitingSecrets } from './secrets/check.ts';

/** What every `SecretSource` keeps to. One that neither denies nor waits has no more to keep to. */
export const secretsContract: readonly SecretsCheck[] = [...resolvingChecks, ...bindingChecks];

/** What a source keeps to that may deny secrets. */
export const deniableSecretsContract: readonly SecretsCheck<DeniableSecrets>[] = [...secretsContract, ...denyingChecks];

/** What a source keeps to that waits for something, as all do that leave the process's memory. */
export const waitingSecretsContract: readonly SecretsCheck<WaitingSecrets>[] = [...secretsContract, ...waitingChecks];

/** What a source keeps to that does both. */
export const remoteSecretsContract: readonly SecretsCheck<DeniableSecrets & WaitingSecrets>[] = [
  ...secretsContract,
  ...denyingChecks,
  ...waitingChecks,
];
