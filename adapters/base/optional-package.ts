/** Packages that an app installs only if it uses them. */

import { PinnaceError } from '../../src/base/errors.ts';

/**
 * Loads a package that an app may not have installed.
 *
 * @throws PinnaceError `unavailable`, reason `package_missing`, with the command that installs it.
 */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    throw new PinnaceError('unavailable', `The package "${name}" is not installed: run \`npm install ${name}\``, {
      retryable: false,
      details: { reason: 'package_missing', package: name },
      cause,
    });
  }
}

/** Node reports a code, Deno a `TypeError`; both name the package. */
function isMissing(cause: unknown, name: string): boolean {
  if (!(cause instanceof Error) || !cause.message.includes(name)) return false;
  return cause instanceof TypeError || ('code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND');
}
