/** The port that verifies callers. */

import type { Principal } from '../base/principal.ts';

/** Gives the verified caller of an HTTP request, or rejects with a `PinnaceError` that carries status and code. */
export interface Authenticator {
  authenticate(request: Request): Promise<Principal>;
}
