/** The variables that middleware sets on a request. */

import type { NonceUse } from '../../../src/contracts/authenticator.ts';
import type { Principal } from '../../../src/base/principal.ts';

/** The trace of a request: the caller's, or a new one. */
export interface RequestTrace {
  readonly traceId: string;
  /** The caller's span, when the request names one. */
  readonly parentSpanId?: string;
}

/** What routes read from the context: all of them the trace, signed routes the caller. */
export interface SignedEnv {
  Variables: {
    trace: RequestTrace;
    principal: Principal;
    /** The request's nonce, where the route uses it up. */
    nonce?: NonceUse;
    /** Authentication has rejected the request. */
    isUnverified?: true;
    /** The request has the token for the metrics, and no principal. */
    isScrape?: true;
  };
}
