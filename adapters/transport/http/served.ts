/** What the routes of an endpoint share: one object for the life of its handler. */

import type { Handler, Hono, MiddlewareHandler } from 'hono';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import type { Admission } from './admission.ts';
import type { Authenticate, Authentication, WatchSession } from './authentication.ts';
import type { SignedEnv } from './env.ts';
import {
  type Json,
  open,
  type Operation,
  type Operations,
  type PathOf,
  type Route,
  type SignedOperation,
} from './operation.ts';
import type { Quotas } from './quotas.ts';
import type { WatchSubject } from './subject-watch.ts';

/** The endpoint as its routes see it. */
export interface Served {
  readonly runtime: HostedRuntime;
  /** Returns the function that serves the operations of a table. */
  readonly serve: ServeTable;
  /** Verifies a caller without serving an operation. */
  readonly authenticate: Authenticate;
  readonly watchSession: WatchSession;
  readonly watchSubject: WatchSubject;
  /** How many runs may be in progress at once. */
  readonly quotas: Quotas;
  /** How many may start at once. */
  readonly admission: Admission;
  readonly keepAliveMs: number;
  readonly now: () => number;
  /** What the platform can do, for the readiness. */
  readonly capabilities: () => Promise<Readonly<Record<string, unknown>>>;
  /** Generates the OpenAPI document; called once. */
  readonly describe: () => Json;
}

/** Serves one operation of a table. `guard` may let requests in that the usual guard would reject. */
export type Serve<T extends Operations> = <R extends keyof T & Route>(
  route: R,
  handler: Handler<SignedEnv, PathOf<R>>,
  guard?: (usual: MiddlewareHandler<SignedEnv>) => MiddlewareHandler<SignedEnv>,
) => void;

export type ServeTable = <T extends Operations>(operations: T) => Serve<T>;

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
