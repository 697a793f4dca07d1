/** Why the endpoint cannot take `PINNACE_TOKEN`, in one line for a terminal. */

import { minTokenLength } from '../../adapters/transport/development-authenticator.ts';

/** Returns what is wrong with the token; `undefined` for one that can be sent. The text never contains the token. */
export function tokenProblem(token: string): string | undefined {
  if (token.length < minTokenLength) {
    return `PINNACE_TOKEN has ${token.length} characters and needs at least ${minTokenLength}. ` +
      'Choose a longer one, or unset it to get a random token.';
  }
  if (/^[\x21-\x7e]{1,256}$/.test(token)) return undefined;
  return 'PINNACE_TOKEN must be at most 256 printable ASCII characters without spaces. ' +
    'Choose another one, or unset it to get a random token.';
}
