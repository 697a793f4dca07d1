/** The calls of a worker that may not start. */

import { PinnaceError } from '../../../src/base/errors.ts';

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Returns the same calls. They reject when the worker reports an error before its first answer: its script was not loaded or threw,
 * so it never answers. Errors after that are those of a worker that runs.
 */
export function orNotStarted<T extends object>(remote: T, worker: object): T {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined); // the calls report it
  let isStarted = false;
  if (worker instanceof EventTarget) worker.addEventListener('error', () => reject(notStarted()));
  const answered = async (call: Call, args: readonly unknown[]): Promise<unknown> => {
    const answer = await call(...args);
    isStarted = true;
    return answer;
  };
  return new Proxy(remote, {
    get(target, name) {
      const call = Reflect.get(target, name) as Call; // a wire has functions only
      return (...args: readonly unknown[]) => isStarted ? call(...args) : Promise.race([answered(call, args), failed]); // later, `failed` would hold every answer
    },
  });
}

function notStarted(): PinnaceError {
  const message = 'Cannot reach the agent: its worker did not start. Check the address of its script, and the console';
  return new PinnaceError('unavailable', message, { retryable: false, details: { reason: 'worker_failed' } });
}
