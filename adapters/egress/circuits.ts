/** Isolates failing origins: for each tenant a bulkhead at each origin, and a circuit breaker for each kind of path at it. */

import { BoundedMap } from '../../src/base/bounded-map.ts';
import {
  BrokenCircuitError,
  bulkhead,
  BulkheadRejectedError,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhen,
  type IBreaker,
  type IPolicy,
  SamplingBreaker,
} from 'cockatiel';
import { PinnaceError } from '../../src/base/errors.ts';

export interface CircuitOptions {
  readonly concurrency?: number;
  /** Failures in a row that open the circuit; so does half of at least ten calls in 30 s. */
  readonly failures?: number;
  readonly openMs?: number;
}

/** A response whose slot is freed when its body has ended. */
export interface HeldAnswer {
  readonly answer: Response;
  readonly ended: Promise<void>;
}

export type Circuits = (target: CircuitTarget, call: () => Promise<HeldAnswer>) => Promise<Response>;

export interface CircuitTarget {
  readonly origin: string;
  /** What shares a breaker at the origin. */
  readonly kind: string;
  /** Whose slots and breakers they are; the composition's own when absent. */
  readonly tenant: string | undefined;
}

/** Creates the circuits of all origins. Holds 1,000 of each kind and evicts the least recently used one. */
export function createCircuits(options: CircuitOptions = {}): Circuits {
  const slots = new BoundedMap<string, IPolicy>(maxCircuits);
  const breakers = new BoundedMap<string, Breaker>(maxCircuits);
  return ({ origin, kind, tenant = '' }, call) => {
    const held = slots.getOrCreate(`${origin} ${tenant}`, () => bulkhead(options.concurrency ?? 16));
    const breaker = breakers.getOrCreate(JSON.stringify([origin, tenant, kind]), () => createBreaker(options));
    return throughCircuit(held, breaker, call);
  };
}

const maxCircuits = 1000;

interface Breaker {
  readonly policy: IPolicy;
  /** Why the last failure counted; a status, or the reason of an error. */
  cause: Readonly<Record<string, unknown>>;
  /** When a call may try again, in milliseconds since 1970. */
  retryAt: number;
}

function createBreaker({ failures = 5, openMs = 10_000 }: CircuitOptions): Breaker {
  const failed = handleWhen(isOriginsFault).orWhenResult(isFailedAnswer);
  const policy = circuitBreaker(failed, { halfOpenAfter: openMs, breaker: eitherBreaker(failures) });
  const breaker: Breaker = { policy, cause: {}, retryAt: 0 };
  policy.onBreak(() => void (breaker.retryAt = Date.now() + openMs));
  return breaker;
}

function throughCircuit(slots: IPolicy, breaker: Breaker, call: () => Promise<HeldAnswer>): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const held = slots.execute(async () => {
    const { answer, ended } = await breaker.policy.execute(() => noteCause(breaker, call));
    resolve(answer);
    await ended;
  });
  held.catch((error: unknown) => reject(toRefusal(error, breaker)));
  return promise;
}

/** Stores why a call failed, for the errors of the calls that are then rejected. */
async function noteCause(breaker: Breaker, call: () => Promise<HeldAnswer>): Promise<HeldAnswer> {
  try {
    const held = await call();
    if (isFailedAnswer(held)) breaker.cause = { reason: 'http_status', status: held.answer.status };
    return held;
  } catch (error) {
    if (isOriginsFault(error)) breaker.cause = { reason: reasonOf(error) };
    throw error;
  }
}

function reasonOf(error: unknown): unknown {
  if (!(error instanceof PinnaceError)) return 'unreachable';
  return error.code === 'deadline_exceeded' ? error.code : error.details?.['reason'];
}

function eitherBreaker(failures: number): IBreaker {
  const row = new ConsecutiveBreaker(failures);
  const share = new SamplingBreaker({ threshold: 0.5, duration: 30_000, minimumRps: 10 / 30 });
  return {
    state: undefined,
    success(state) {
      row.success();
      share.success(state);
    },
    failure(state) {
      const opens = [row.failure(), share.failure(state)]; // both must count it
      return opens.includes(true);
    },
  };
}

function isOriginsFault(error: unknown): boolean {
  if (!(error instanceof PinnaceError)) return true;
  return error.code === 'deadline_exceeded' || error.details?.['reason'] === 'unreachable';
}

function isFailedAnswer(result: unknown): boolean {
  const { status } = (result as HeldAnswer).answer; // the breaker reads nothing else
  return status >= 500 || status === 408 || status === 429;
}

function toRefusal(error: unknown, { cause, retryAt }: Breaker): unknown {
  if (error instanceof BrokenCircuitError) return brokenCircuit(cause, Math.max(1000, retryAt - Date.now()));
  if (!(error instanceof BulkheadRejectedError)) return error;
  return new PinnaceError('rate_limited', 'Cannot send the request: too many to its origin are under way', {
    retryAfterMs: 1000,
    details: { reason: 'too_many_calls' },
  });
}

function brokenCircuit(cause: Breaker['cause'], retryAfterMs: number): PinnaceError {
  const why = 'status' in cause ? `it answered with status ${String(cause['status'])}` : 'it did not answer';
  const message = `Cannot send the request: ${why} too often lately; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new PinnaceError('unavailable', message, {
    retryAfterMs,
    details: { reason: 'dependency_unavailable', lastFailure: cause },
  });
}
