/**
 * Authenticates requests: the one middleware through which every route that is not open is reached. What must hold:
 *
 * 1. The size of the body is limited before the authenticator reads it.
 * 2. `principal` is set when the signature or token and the named subject are verified, and not before. The scope comes after that.
 * 3. A nonce is used up before the response, also that of a refused request: by `signed` before the route runs, by `signedOnce` in the
 *    commit of the route, or after it where the route has left it.
 */

import { bearerTokenOf, requireNamedSubject, type Revocable } from '../signed/caller.ts';
import type { Context, Handler, Hono, MiddlewareHandler } from 'hono';
import { PinnaceError, toPinnaceError } from '../../../src/base/errors.ts';
import type { Metrics } from '../../../src/base/metrics.ts';
import { type Principal, requireScope } from '../../../src/base/principal.ts';
import type { Authenticator, NonceUse, NonceVerifier } from '../../../src/contracts/authenticator.ts';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import { type BodyIntake, largeBodyBytes, limitBody, receiveBy, usualBodyBytes } from '../signed/body.ts';
import type { Admission, Quotas, WatchSubject } from './admission.ts';
import {
  declare,
  type Json,
  open,
  type Operation,
  type Operations,
  type PathOf,
  type Route,
  type SignedOperation,
} from './operation.ts';

/** Declares a route for verified callers. Its middleware sets `principal`, or rejects before anything of the route runs. */
type Signed = (operation: SignedOperation) => MiddlewareHandler<SignedEnv>;

/** Authenticates without declaring an operation: for what OpenAPI does not describe, such as MCP. */
export type Authenticate = MiddlewareHandler<SignedEnv>;

interface AuthenticationOptions {
  readonly authenticator: Authenticator & Partial<NonceVerifier>;
  readonly metrics: Metrics;
  readonly intake: BodyIntake;
  /** The largest body of every request; absent: what the operation declares. */
  readonly maxBodyBytes?: number | undefined;
}

interface Authentication {
  readonly authenticate: Authenticate;
  readonly signed: Signed;
  /** As `signed`. The route may use up the request's `nonce` in a commit of its own; what it leaves is used up before the response. */
  readonly signedOnce: Signed;
}

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

export function createSessionWatch(authenticator: Partial<Revocable>): WatchSession {
  return (principal, stop) =>
    authenticator.onRevoked?.(principal, () => stop.abort('session_revoked')) ?? (() => undefined);
}

/** The trace of a request: the caller's, or a new one. */
export interface RequestTrace {
  readonly traceId: string;
  readonly parentSpanId?: string;
}

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

export interface Served {
  readonly runtime: HostedRuntime;
  readonly serve: ServeTable;
  readonly authenticate: Authenticate;
  readonly watchSession: WatchSession;
  readonly watchSubject: WatchSubject;
  readonly quotas: Quotas;
  readonly admission: Admission;
  readonly keepAliveMs: number;
  readonly now: () => number;
  /** What the platform can do, for the readiness. */
  readonly capabilities: () => Promise<Readonly<Record<string, unknown>>>;
  readonly describe: () => Json;
}

type Serve<T extends Operations> = <R extends keyof T & Route>(
  route: R,
  handler: Handler<SignedEnv, PathOf<R>>,
  guard?: (usual: MiddlewareHandler<SignedEnv>) => MiddlewareHandler<SignedEnv>,
) => void;

type ServeTable = <T extends Operations>(operations: T) => Serve<T>;

/** Returns what mounts operations: each behind the guard that its row asks for. */
export function serveOn(app: Hono<SignedEnv>, { signed, signedOnce }: Authentication): ServeTable {
  return (operations) => (route, handler, guard = (usual) => usual) => {
    const operation = operations[route] as Operation | SignedOperation; // safe: the route is a key of the table
    const [method = '', path = ''] = route.split(' ');
    app.on(method, path, guard(guardOf(operation)), handler as Handler<SignedEnv>); // safe: the path has its parameters
  };

  function guardOf(operation: Operation | SignedOperation): MiddlewareHandler<SignedEnv> {
    if (!('scope' in operation)) return open(operation);
    return operation.usesNonce ? signedOnce(operation) : signed(operation);
  }
}

export type MetricsToken = (request: Request) => Promise<boolean>;

/** The fewest and the most characters of a token. */
const [minLength, maxLength] = [32, 512] as const;

/** @throws PinnaceError `invalid_argument` for a token that is too short or long, or that no header can carry. */
export function createMetricsToken(token: string): MetricsToken {
  if (token.length < minLength || token.length > maxLength || !/^[\x21-\x7e]+$/.test(token)) {
    const message =
      `Cannot protect the metrics: the token must have ${minLength} to ${maxLength} visible ASCII characters, without spaces`;
    throw new PinnaceError('invalid_argument', message, { details: { reason: 'metrics_token' } });
  }
  let expected: Promise<Uint8Array> | undefined;
  return async (request) => {
    const given = bearerTokenOf(request, maxLength);
    if (given === undefined) return false;
    const [known, found] = await Promise.all([expected ??= digest(token), digest(given)]);
    return isEqual(known, found);
  };
}

/** Accepts requests with the token; others must be verified as usual. */
export function orMetricsToken(
  signed: MiddlewareHandler<SignedEnv>,
  { operation, hasToken }: { readonly operation: SignedOperation; readonly hasToken: MetricsToken | undefined },
): MiddlewareHandler<SignedEnv> {
  if (!hasToken) return signed;
  return declare(operation, async (c, next) => {
    if (!await hasToken(c.req.raw)) return await signed(c, next);
    c.set('isScrape', true);
    return await next();
  });
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** Visits every byte: the time taken reveals nothing, and digests reveal no part of a token. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0);
  return difference === 0;
}
