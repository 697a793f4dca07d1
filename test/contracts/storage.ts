/**
 * The rules of the `Storage` port as a list of named checks. It knows no test runner: give each check a fresh subject, in a test
 * named like the check.
 *
 * @example
 * for (const { name, run } of storageContract) it(name, () => run(freshSubject()));
 */

import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import type { StorageCheck } from './storage/check.ts';
import { closingChecks } from './storage/closing.ts';
import { commitChecks, isolationChecks } from './storage/commits.ts';
import { keyChecks } from './storage/keys.ts';
import { lifetimeChecks } from './storage/lifetimes.ts';
import { listChecks } from './storage/lists.ts';
import { valueChecks } from './storage/values.ts';
import { watchingChecks } from './storage/watching.ts';

export { createTestClock, type StorageCheck, type StorageSubject } from './storage/check.ts';

/** What every `Storage` keeps to. */
export const storageContract: readonly StorageCheck[] = [
  ...commitChecks,
  ...listChecks,
  ...keyChecks,
  ...valueChecks,
  ...lifetimeChecks,
  ...isolationChecks,
];

/** What every `ClosableStorage` keeps to. */
export const closableStorageContract: readonly StorageCheck<ClosableStorage>[] = [...storageContract, ...closingChecks];

/** What a `ClosableStorage` that is `Watchable` keeps to: all of Pinnace's own are. */
export const watchableStorageContract: readonly StorageCheck<ClosableStorage & Watchable>[] = [
  ...closableStorageContract,
  ...watchingChecks,
];
