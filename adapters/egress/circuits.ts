/** Keeps one bad origin from harming the rest: a breaker and a bulkhead for each. */

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
import { PinnaceError } from '../../src/errors.ts';
import { unreachable } from './refusals.ts';

/** When an origin is left alone. */
export interface CircuitOptions {
  /** Calls at a time. */
  readonly concurrency?: number;
  /** Failures in a row that open the circuit; so does half of at least ten calls in 30 s. */
  readonly failures?: number;
  /** How long the circuit stays open before one call may try again. */
  readonly openMs?: number;
}

/** An answer whose slot is free once its body has ended. */
export interface HeldAnswer {
  readonly answer: Response;
  readonly ended: Promise<void>;
}

/** Calls through the circuit of an origin. */
export type Circuits = (origin: string, call: () => Promise<HeldAnswer>) => Promise<Response>;

/** Gives the circuits of all origins; the least lately made is forgotten when there are too many. */
export function createCircuits(options: CircuitOptions = {}): Circuits {
  const circuits = new Map<string, Circuit>();
  return (origin, call) => {
    const circuit = circuits.get(origin) ?? createCircuit(options);
    circuits.set(origin, circuit);
    if (circuits.size > maxCircuits) circuits.delete(circuits.keys().next().value ?? '');
    return throughCircuit(circuit, call);
  };
}

const maxCircuits = 1000;

interface Circuit {
  readonly slots: IPolicy;
  readonly breaker: IPolicy;
}

function createCircuit({ concurrency = 16, failures = 5, openMs = 10_000 }: CircuitOptions): Circuit {
  const failed = handleWhen(isOriginsFault).orWhenResult(isFailedAnswer);
  return {
    slots: bulkhead(concurrency),
    breaker: circuitBreaker(failed, { halfOpenAfter: openMs, breaker: eitherBreaker(failures) }),
  };
}

function throughCircuit({ slots, breaker }: Circuit, call: () => Promise<HeldAnswer>): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const held = slots.execute(async () => {
    const { answer, ended } = await breaker.execute(call);
    resolve(answer);
    await ended;
  });
  held.catch((error: unknown) => reject(toRefusal(error)));
  return promise;
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
      const opens = [row.failure(), share.failure(state)]; // both must hear of it
      return opens.includes(true);
    },
  };
}

function isOriginsFault(error: unknown): boolean {
  if (!(error instanceof PinnaceError)) return true;
  return error.code === 'deadline_exceeded' || error.details?.['reason'] === 'unreachable';
}

function isFailedAnswer(result: unknown): boolean {
  const { status } = (result as HeldAnswer).answer; // the only thing that the breaker is given
  return status >= 500 || status === 408 || status === 429;
}

function toRefusal(error: unknown): unknown {
  if (error instanceof BrokenCircuitError) {
    return unreachable('dependency_unavailable', 'its origin failed too often lately; try again in a few seconds');
  }
  if (!(error instanceof BulkheadRejectedError)) return error;
  return new PinnaceError('rate_limited', 'Cannot send the request: too many to its origin are under way', {
    retryAfterMs: 1000,
    details: { reason: 'too_many_calls' },
  });
}
