/** What faults do in place of a call. */

import { type ErrorCode, PinnaceError } from '../../base/errors.ts';
import type { FaultStrike, StruckCall, StruckInstance } from '../fault.ts';

/** Never answers. */
export const silent: FaultStrike = () => new Promise<never>(() => undefined);

/** Does the work this many milliseconds later. */
export function later(ms: number): FaultStrike {
  return async ({ go }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return await go();
  };
}

/** Rejects with an error of Pinnace. */
export function fails(code: ErrorCode, reason: string): FaultStrike {
  return ({ canary }) =>
    Promise.reject(new PinnaceError(code, 'No', { details: { reason }, cause: new Error(canary) }));
}

/** Throws before it returns a promise. */
export const throws: FaultStrike = ({ canary }) => {
  throw new Error(canary);
};

/** Rejects with anything. */
export const rejects: FaultStrike = ({ canary, chance }) =>
  Promise.reject(
    chance.of<unknown>([
      new Error(canary),
      canary,
      undefined,
      { code: canary, message: canary },
      new TypeError(canary),
      new TypeError(`fetch failed: ${canary}`),
    ]),
  );

/** Answers with one of the values. */
export function answers(...values: readonly unknown[]): FaultStrike {
  return ({ chance }) => Promise.resolve(chance.of(values));
}

/** Answers with something else than the port does. */
export const garbage: FaultStrike = ({ chance, canary }) =>
  Promise.resolve(chance.of<unknown>([{}, 7, canary, { id: canary }]));

/** Does the work, and its answer is lost. */
export const losesAnswer: FaultStrike = async ({ go, canary }) => {
  await go();
  throw unreachable(canary);
};

/** Does the work twice, as a storage does that repeats what it got no answer for. */
export const repeats: FaultStrike = async ({ go }) => (await go(), await go());

/** Is out of reach for so long, whatever it is asked. For faults that last. */
export function away(ms: number): FaultStrike {
  const isBack = new WeakMap<StruckInstance, boolean>();
  return ({ instance, go, canary }) => {
    if (!isBack.has(instance)) setTimeout(() => isBack.set(instance, true), ms);
    if (isBack.get(instance)) return go();
    isBack.set(instance, false);
    return Promise.reject(unreachable(canary));
  };
}

function unreachable(canary: string): PinnaceError {
  return new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' }, cause: new Error(canary) });
}

/** Moves the clock of the instance. */
export function jumps(ms: number): FaultStrike {
  return ({ instance, go }) => {
    instance.jump(ms);
    return go();
  };
}

/** Kills the instance before the call. */
export function kills({ instance }: StruckCall): Promise<never> {
  instance.kill();
  return new Promise(() => undefined);
}

/** Kills the instance when the call is done. */
export async function killsBehind(call: StruckCall): Promise<unknown> {
  await call.go();
  return await kills(call);
}

/** Cancels the requests of the client. */
export function stops({ instance, go }: StruckCall): Promise<unknown> {
  instance.stop.abort('user');
  return go();
}

/** Each strike on an instance is the next of these, and the last from then on. */
export function inTurn<C extends StruckCall>(...strikes: readonly ((call: C) => unknown)[]): (call: C) => unknown {
  const counts = new WeakMap<StruckInstance, number>();
  return (call) => {
    const count = counts.get(call.instance) ?? 0;
    counts.set(call.instance, count + 1);
    return strikes[Math.min(count, strikes.length - 1)]?.(call);
  };
}
