/** The port that verifies callers. */

import type { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Change, Storage } from './storage.ts';

/** Gives the verified caller of an HTTP request, or rejects with a `PinnaceError` that carries status and code. */
export interface Authenticator {
  authenticate(request: Request): Promise<Principal>;
}

/** A verified caller. Where the request has a nonce, it is not used up yet. */
export interface VerifiedCaller {
  readonly principal: Principal;
  readonly nonce?: NonceUse;
}

/**
 * Verifies a request without a commit. The caller of `verify` uses up the nonce before the response: in the commit that starts the
 * run, or else with `commit`.
 */
export interface NonceVerifier {
  verify(request: Request): Promise<VerifiedCaller>;
}

/** The use of a request's nonce, of which only one commit succeeds. */
export interface NonceUse {
  /** Where used nonces are. A commit to the same storage may contain `change`. */
  readonly storage: Storage;
  /** Conflicts when the nonce was used. */
  readonly change: Change;
  /**
   * Commits the change alone. Does nothing when the nonce was used up by this request.
   *
   * @throws PinnaceError `signature_replayed` when another request has used it, `replay_store_full` or `overloaded` where the storage
   * fails.
   */
  commit(): Promise<void>;
  /** Says that another commit contained the change. */
  committed(): void;
  /** Returns the error for a commit that conflicted at the change's key. */
  replayed(): PinnaceError;
}
