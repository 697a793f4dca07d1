/** Time that passes only when nothing else can happen: timers fire in order, at once, and those that are never cleared can be counted. */

import { checkNames, optional } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { type Chance, createChance } from './chance.ts';

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
export function virtualTime(options: VirtualTimeOptions = {}): VirtualTime {
  checkNames('make time virtual', options, optional('start', 'seed'));
  const { start = 1_800_000_000_000, seed } = options;
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

interface Timer {
  readonly id: number;
  at: number;
  readonly everyMs: number | undefined;
  readonly callback: () => void;
  /** Does not keep a process alive, and is not counted. */
  isSilent: boolean;
}

/** What a platform returns for a timer: a number, or in Node an object that code of Node calls. */
type TimerHandle = number | object;

interface Timers {
  readonly now: () => number;
  readonly setTimeout: (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => TimerHandle;
  readonly setInterval: (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => TimerHandle;
  readonly clear: (id: unknown) => void;
  /** As `AbortSignal.timeout` sets one. */
  readonly setSilent: (callback: () => void, ms: number) => void;
  readonly count: () => number;
  readonly drop: () => void;
  /** Fires the next timer that is due by then; `false` when there is none. */
  readonly fire: (until: number) => boolean;
  readonly skipTo: (until: number) => void;
}

function createTimers(start: number): Timers {
  const timers = new Map<number, Timer>();
  const hasObjects = platformHasObjects();
  let time = start;
  let ids = 0;
  const set = (callback: () => void, ms: number, { everyMs, isSilent = false }: Partial<Timer> = {}): number => {
    const id = ++ids;
    timers.set(id, { id, at: time + Math.max(1, ms), everyMs, callback, isSilent });
    return id;
  };
  const handleOf = (id: number): TimerHandle => hasObjects ? nodeTimer(id, timers) : id;
  return {
    now: () => time,
    setTimeout: (callback, ms = 0, ...given) => handleOf(set(() => callback(...given), ms)),
    setInterval: (callback, ms = 0, ...given) =>
      handleOf(set(() => callback(...given), ms, { everyMs: Math.max(1, ms) })),
    clear: (id) => void timers.delete(Number(id)),
    setSilent: (callback, ms) => void set(callback, ms, { isSilent: true }),
    count: () => timers.values().filter(({ isSilent }) => !isSilent).toArray().length,
    drop: () => timers.clear(),
    fire(until) {
      const next = [...timers.values()].reduce<Timer | undefined>((a, b) => a && a.at <= b.at ? a : b, undefined);
      if (!next || next.at > until) return false;
      time = Math.max(time, next.at);
      if (next.everyMs === undefined) timers.delete(next.id);
      else next.at += next.everyMs;
      next.callback();
      return true;
    },
    skipTo: (until) => void (time = Math.max(time, until)),
  };
}

function platformHasObjects(): boolean {
  const handle: unknown = setTimeout(() => undefined, 0);
  clearTimeout(handle as number); // what the platform has returned
  return typeof handle === 'object';
}

/** The object that Node returns for a timer. One that was `unref`ed does not keep a process alive, and is not counted. */
function nodeTimer(id: number, timers: ReadonlyMap<number, Timer>): object {
  const setSilent = (isSilent: boolean): void => {
    const timer = timers.get(id);
    if (timer) timer.isSilent = isSilent;
  };
  const handle = {
    ref: () => (setSilent(false), handle),
    unref: () => (setSilent(true), handle),
    hasRef: () => timers.get(id)?.isSilent === false,
    refresh: () => handle,
    [Symbol.toPrimitive]: () => id,
  };
  return handle;
}

/** Work under way. */
interface Answers {
  /** Returns a promise that settles as the work does, when `release` delivers it; at once while time does not pass. */
  readonly hold: <T>(work: Promise<T>) => Promise<T>;
  /** Delivers what is ready. Returns whether the event loop must turn again before time may pass. */
  readonly release: () => boolean;
}

/** Answers that are delivered one by one, in the order in which they are ready. Time passes for work that is not. */
function singleAnswers(isPassing: () => boolean): Answers {
  const ready: (() => void)[] = [];
  const queue = (deliver: () => void): void => void (isPassing() ? ready.push(deliver) : deliver());
  return {
    hold: (work) =>
      new Promise((resolve, reject) => {
        work.then((value) => queue(() => resolve(value)), (error: unknown) => queue(() => reject(error)));
      }),
    release() {
      const deliver = ready.shift();
      deliver?.();
      return deliver !== undefined;
    },
  };
}

interface Pending {
  deliver?: () => void;
}

/** Answers of the platform's other threads, as hashes: delivered in the order of their calls, when all are ready. No time passes for them. */
function threadAnswers(isPassing: () => boolean): Answers {
  let open: Pending[] = [];
  return {
    hold: (work) =>
      new Promise((resolve, reject) => {
        const pending: Pending = {};
        open.push(pending);
        const settle = (deliver: () => void): void => {
          if (isPassing()) return void (pending.deliver = deliver);
          open = open.filter((one) => one !== pending);
          deliver();
        };
        work.then((value) => settle(() => resolve(value)), (error: unknown) => settle(() => reject(error)));
      }),
    release() {
      if (open.length === 0) return false;
      if (open.some(({ deliver }) => deliver === undefined)) return true;
      for (const { deliver } of open.splice(0)) deliver?.();
      return true;
    },
  };
}

interface Replacements {
  readonly replace: (owner: object, members: Readonly<Record<string, unknown>>) => void;
  restore(): void;
}

function createReplacements(): Replacements {
  const undo: (() => void)[] = [];
  return {
    replace(owner, members) {
      for (const [name, value] of Object.entries(members)) {
        const own = Object.getOwnPropertyDescriptor(owner, name);
        undo.push(() => void (own ? Object.defineProperty(owner, name, own) : Reflect.deleteProperty(owner, name)));
        Object.defineProperty(owner, name, {
          value,
          configurable: true,
          enumerable: own?.enumerable ?? true,
          writable: true,
        });
      }
    },
    restore() {
      for (const one of undo.splice(0).toReversed()) one();
    },
  };
}

/** Replaces the sources of randomness by one that is the same for the same seed. Keys that the platform generates stay random. */
function replaceRandomness({ replace }: Replacements, seed: number): void {
  const chance = createChance(seed ^ 0x5eed);
  replace(Math, { random: chance.next });
  replace(crypto, {
    getRandomValues: <T extends ArrayBufferView>(view: T): T => {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = chance.below(256);
      return view;
    },
    randomUUID: () => uuidOf(chance),
  });
}

/** A UUID of version 4 (RFC 9562). */
function uuidOf(chance: Chance): string {
  return 'xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx'.replace(/[xv]/g, (place) => {
    const digit = place === 'x' ? chance.below(16) : 8 + chance.below(4);
    return digit.toString(16);
  });
}

const methods = [
  'decrypt',
  'deriveBits',
  'deriveKey',
  'digest',
  'encrypt',
  'exportKey',
  'generateKey',
  'importKey',
  'sign',
  'unwrapKey',
  'verify',
  'wrapKey',
] as const;

/** Makes time wait for the platform's cryptography, which works in other threads. */
function replaceCryptography({ replace }: Replacements, { hold }: Answers): void {
  const { subtle } = crypto;
  for (const name of methods) {
    const method = (subtle[name] as (...args: unknown[]) => Promise<unknown>).bind(subtle); // every one returns a promise
    replace(subtle, { [name]: (...args: unknown[]) => hold(method(...args)) });
  }
}

interface Turns {
  next(): Promise<void>;
  close(): void;
}

/** A browser takes several turns for a module that it has already loaded. */
const turnsOfBrowsers = 4;

/** Creates turns. Deno delivers messages before promises are settled, so `setImmediate` comes first where it exists. */
export function createTurns(): Turns {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  if (setImmediate) return { next: () => new Promise((resolve) => void setImmediate(resolve)), close: () => undefined };
  const { port1, port2 } = new MessageChannel();
  let wake = (): void => undefined;
  port1.addEventListener('message', () => wake());
  port1.start();
  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      port2.postMessage(undefined);
    });
  return {
    async next() {
      for (let turns = 0; turns < turnsOfBrowsers; turns++) await turn();
    },
    close: () => port1.close(),
  };
}
