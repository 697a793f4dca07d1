/** Authenticates requests: the one middleware through which every route that is not open is reached. */

import type { Context, MiddlewareHandler } from 'hono';
import { toPinnaceError } from '../../../src/base/errors.ts';
import type { Metrics } from '../../../src/base/metrics.ts';
import { type Principal, requireScope } from '../../../src/base/principal.ts';
import type { Authenticator } from '../../../src/contracts/authenticator.ts';
import { receiveBy } from '../signed/body.ts';
import type { BodyIntake } from './body-intake.ts';
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
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly intake: BodyIntake;
}

/** Creates the middleware. It counts the requests that it rejects, and counts bodies against the tenant that it finds. */
export function createAuthentication(
  { authenticator, metrics, intake }: AuthenticationOptions,
): { readonly authenticate: Authenticate; readonly signed: Signed } {
  const verify = async (c: Context<SignedEnv>): Promise<Principal> => {
    try {
      const principal = await authenticator.authenticate(c.req.raw);
      receiveBy(intake, c.req.raw, { tenant: principal.tenant });
      c.set('principal', principal);
      return principal;
    } catch (error) {
      metrics.count('pinnace_authentication_refused_total', { code: toPinnaceError(error).code });
      c.set('isUnverified', true);
      throw error;
    }
  };
  return {
    authenticate: async (c, next) => {
      await verify(c);
      await next();
    },
    signed: (operation) =>
      declare(operation, async (c, next) => {
        const principal = await verify(c);
        if (operation.checkedBy !== 'runtime') requireScope(principal, operation.scope);
        await next();
      }),
  };
}

/** Aborts `stop` when the caller's session is revoked. Returns the function that ends the watch. */
export type WatchSession = (principal: Principal, stop: AbortController) => () => void;

/** Creates the watch; it does nothing where the authenticator knows of no revocations. */
export function createSessionWatch(authenticator: Partial<Revocable>): WatchSession {
  return (principal, stop) =>
    authenticator.onRevoked?.(principal, () => stop.abort('session_revoked')) ?? (() => undefined);
}
