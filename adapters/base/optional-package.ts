/** Packages that an app installs only if it uses them. */

import { PinnaceError } from '../../src/base/errors.ts';

/**
 * Returns the error to throw when the import of an optional package fails: `unavailable`, reason `package_missing`, with the command
 * that installs it; the error itself when it has another cause. Write `await import(…)` inside of `try`: only then do esbuild, webpack,
 * Turbopack, Rollup and Rolldown build a server without the package.
 */
export function packageError(name: string, cause: unknown): unknown {
  if (!isMissing(cause, name)) return cause;
  return new PinnaceError('unavailable', `The package "${name}" is not installed: run \`npm install ${name}\``, {
    retryable: false,
    details: { reason: 'package_missing', package: name },
    cause,
  });
}

const missingCodes: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** Node and webpack report a code, Deno a `TypeError`; all name the package. */
function isMissing(cause: unknown, name: string): boolean {
  if (!(cause instanceof Error) || !cause.message.includes(name)) return false;
  return cause instanceof TypeError || ('code' in cause && missingCodes.includes(cause.code));
}
