/** Authenticates requests: the one middleware through which every route that is not open is reached. */

import type { Context, MiddlewareHandler } from 'hono';
import { toPinnaceError } from '../../../src/base/errors.ts';
import type { Metrics } from '../../../src/base/metrics.ts';
import { type Principal, requireScope } from '../../../src/base/principal.ts';
import type { Authenticator, NonceUse, NonceVerifier } from '../../../src/contracts/authenticator.ts';
import { requireNamedSubject } from '../acting-for.ts';
import { limitBody, receiveBy } from '../signed/body.ts';
import { type BodyIntake, largeBodyBytes, usualBodyBytes } from './body-intake.ts';
import type { SignedEnv } from './env.ts';
import { declare, type SignedOperation } from './operation.ts';

/** An authenticator that knows when sessions are revoked. */
export interface Revocable {
  onRevoked(principal: Principal, listener: () => void): () => void;
}

/** Declares a route for verified callers. Its middleware sets `principal`, or rejects before anything of the route runs. */
export type Signed = (operation: SignedOperation) => MiddlewareHandler<SignedEnv>;

/** Authenticates without declaring an operation: for what OpenAPI does not describe, such as MCP. */
export type Authenticate = MiddlewareHandler<SignedEnv>;

/** What authentication needs. */
export interface AuthenticationOptions {
  readonly authenticator: Authenticator & Partial<NonceVerifier>;
  readonly metrics: Metrics;
  readonly intake: BodyIntake;
  /** The largest body of every request; absent: what the operation declares. */
  readonly maxBodyBytes?: number | undefined;
}

/** What guards the routes. */
export interface Authentication {
  readonly authenticate: Authenticate;
  readonly signed: Signed;
  /** As `signed`. The route may use up the request's `nonce` in a commit of its own; what it leaves is used up before the response. */
  readonly signedOnce: Signed;
}

/** Creates the middleware. It counts the requests that it rejects, and counts bodies against the tenant that it finds. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const verify = async (c: Context<SignedEnv>, operation?: SignedOperation): Promise<NonceUse | undefined> =>
    await observed(c, options, async () => {
      const { authenticator, intake, maxBodyBytes } = options;
      limitBody(c.req.raw, maxBodyBytes ?? (operation?.hasLargeBody ? largeBodyBytes : usualBodyBytes));
      const caller = await authenticator.verify?.(c.req.raw) ?? {
        principal: await authenticator.authenticate(c.req.raw),
      };
      requireNamedSubject(c.req.raw, caller.principal);
      receiveBy(intake, c.req.raw, { tenant: caller.principal.tenant });
      c.set('principal', caller.principal);
      return caller.nonce;
    });
  const useUp = async (c: Context<SignedEnv>, nonce: NonceUse | undefined): Promise<void> =>
    await observed(c, options, async () => await nonce?.commit());
  return {
    async authenticate(c, next) {
      await useUp(c, await verify(c));
      await next();
    },
    signed: (operation) =>
      declare(operation, async (c, next) => {
        await useUp(c, await verify(c, operation));
        requireScopeOf(operation, c.var.principal);
        await next();
      }),
    signedOnce: (operation) =>
      declare(operation, async (c, next) => {
        const nonce = await verify(c, operation);
        if (nonce) c.set('nonce', nonce);
        await next();
        await useUp(c, nonce); // of a request that was refused: a replay is refused as one
      }),
  };
}

function requireScopeOf({ checkedBy, scope }: SignedOperation, principal: Principal): void {
  if (checkedBy !== 'runtime') requireScope(principal, scope);
}

async function observed<T>(
  c: Context<SignedEnv>,
  { metrics }: AuthenticationOptions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    metrics.count('pinnace_authentication_refused_total', { code: toPinnaceError(error).code });
    c.set('isUnverified', true);
    throw error;
  }
}

/** Aborts `stop` when the caller's session is revoked. Returns the function that ends the watch. */
export type WatchSession = (principal: Principal, stop: AbortController) => () => void;

/** Creates the watch; it does nothing where the authenticator knows of no revocations. */
export function createSessionWatch(authenticator: Partial<Revocable>): WatchSession {
  return (principal, stop) =>
    authenticator.onRevoked?.(principal, () => stop.abort('session_revoked')) ?? (() => undefined);
}
