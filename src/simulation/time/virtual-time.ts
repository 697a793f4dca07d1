/** Time that passes only when nothing else can happen: timers fire in order, at once, and those that are never cleared can be counted. */

import { PinnaceError } from '../../base/errors.ts';
import { singleAnswers, threadAnswers } from './answers.ts';
import { createReplacements, type Replacements } from './replacements.ts';
import { replaceCryptography, replaceRandomness } from './seeded-platform.ts';
import { createTimers, type Timers } from './timers.ts';
import { createTurns } from './turns.ts';

/** Timers and clocks of this thread instead of the platform's, until it is closed. */
export interface VirtualTime extends Disposable {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How many timers wait. */
  readonly timers: number;
  /** Lets time pass until the work is done, at most this many milliseconds. Returns whether it was done. */
  passUntil(work: Promise<unknown>, mostMs: number): Promise<boolean>;
  /** Lets this many milliseconds pass. */
  pass(ms: number): Promise<void>;
  /** Returns a promise that settles as the work does, when nothing else can happen: answers arrive one by one. */
  inTurn<T>(work: Promise<T>): Promise<T>;
  /** Removes every timer, as when the process that set them is killed. */
  dropTimers(): void;
  /** Restores the platform's timers and clocks. */
  close(): void;
}

/** Options of {@link virtualTime}. */
export interface VirtualTimeOptions {
  /** Milliseconds since 1970; 1,800,000,000,000 (January 2027) when absent. */
  readonly start?: number;
  /** Also makes `Math.random`, `crypto.randomUUID` and `crypto.getRandomValues` the same for the same seed. */
  readonly seed?: number;
}

let isReplaced = false;

/**
 * Replaces the timers and clocks of this thread: `setTimeout`, `setInterval`, `AbortSignal.timeout`, `Date` and `performance.now`.
 * Time passes only in `pass` and `passUntil`, which wait for promises and for `crypto.subtle`, and not for sockets, files or workers.
 *
 * @throws PinnaceError `conflict` while another virtual time of this thread is open.
 * @example
 * using time = virtualTime();
 * const fetched = retryForAnHour();
 * await time.passUntil(fetched, 3_600_000); // takes milliseconds
 */
export function virtualTime({ start = 1_800_000_000_000, seed }: VirtualTimeOptions = {}): VirtualTime {
  if (isReplaced) {
    throw new PinnaceError('conflict', 'Cannot make time virtual: it already is; close the other one first');
  }
  isReplaced = true;
  const turns = createTurns(); // before the platform is replaced
  const replacements = createReplacements();
  const timers = createTimers(start);
  let passing = 0;
  const isPassing = (): boolean => passing > 0;
  const [hashes, answers] = [threadAnswers(isPassing), singleAnswers(isPassing)];
  replaceClocks(replacements, timers, start);
  replaceCryptography(replacements, hashes);
  if (seed !== undefined) replaceRandomness(replacements, seed);
  /** Resolves when all that can be done now is done. */
  const idle = async (): Promise<void> => {
    do await turns.next(); while (hashes.release() || answers.release());
  };
  /** Fires timers until then, or until the work is done. */
  const passTo = async (until: number, isDone: () => boolean): Promise<void> => {
    passing += 1;
    do await idle(); while (!isDone() && timers.fire(until));
    passing -= 1;
    if (!isDone()) timers.skipTo(until);
  };
  const close = (): void => {
    if (isReplaced) replacements.restore();
    isReplaced = false;
    turns.close();
  };
  return {
    now: timers.now,
    get timers() {
      return timers.count();
    },
    async passUntil(work, mostMs) {
      let done = false;
      const end = (): void => void (done = true);
      work.then(end, end);
      await passTo(timers.now() + mostMs, () => done);
      return done;
    },
    pass: (ms) => passTo(timers.now() + ms, () => false),
    inTurn: answers.hold,
    dropTimers: timers.drop,
    close,
    [Symbol.dispose]: close,
  };
}

function replaceClocks({ replace }: Replacements, timers: Timers, start: number): void {
  const PlatformDate = Date;
  replace(globalThis, {
    setTimeout: timers.setTimeout,
    setInterval: timers.setInterval,
    clearTimeout: timers.clear,
    clearInterval: timers.clear,
    Date: new Proxy(PlatformDate, {
      apply: () => new PlatformDate(timers.now()).toString(),
      construct: (target, args: unknown[], newTarget) =>
        Reflect.construct(target, args.length === 0 ? [timers.now()] : args, newTarget) as object, // a date
      get: (target, name) => name === 'now' ? timers.now : Reflect.get(target, name) as unknown,
    }),
  });
  replace(performance, { now: () => timers.now() - start });
  replace(AbortSignal, {
    timeout(ms: number): AbortSignal {
      const controller = new AbortController();
      timers.setSilent(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms);
      return controller.signal;
    },
  });
}
