/** One simulated instance of an app: its steps, its clock, and its end. */

import type { Chance } from './chance.ts';
import type { FaultStrike, Scheduler, StruckInstance } from './faults.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A text that faults put into errors and answers, and that must come out nowhere. */
export const canary = 'CANARY-fault-Hn54Yd20';

export interface Instance extends StruckInstance {
  readonly steps: readonly string[];
  readonly call: StepCall;
  readonly now: () => number;
  readonly isDead: () => boolean;
  readonly killed: Promise<void>;
}

interface InstanceOptions {
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly schedule: (step: string) => FaultStrike | undefined;
}

const never = (): Promise<never> => new Promise(() => undefined);

export function createInstance({ time, chance, schedule }: InstanceOptions): Instance {
  const steps: string[] = [];
  const next = createNumbers();
  const { promise: killed, resolve: end } = Promise.withResolvers<void>();
  let [shiftMs, isDead] = [0, false];
  const alive = async (answer: Promise<unknown>): Promise<unknown> => {
    const settled = await time.inTurn(answer).then((value) => ({ value }), (error: unknown) => ({ error }));
    if (isDead) return await never(); // a killed process receives nothing
    if ('error' in settled) throw settled.error;
    return settled.value;
  };
  const instance: Instance = {
    steps,
    now: () => time.now() + shiftMs,
    isDead: () => isDead,
    killed,
    stop: new AbortController(),
    jump: (ms) => void (shiftMs += ms),
    kill() {
      isDead = true;
      time.dropTimers();
      end();
    },
    call(name, args, work) {
      if (isDead) return never();
      const step = next(name);
      steps.push(step);
      const strike = schedule(step);
      const go = async (): Promise<unknown> => await work();
      const answer = strike ? strike({ step, args, go, chance, canary, instance }) : work();
      return answer instanceof Promise ? alive(answer) : answer;
    },
  };
  return instance;
}

type Method = (...args: unknown[]) => unknown;

/** Makes one call of a port: `name` is `storage.commit`, `work` calls the port itself. */
type StepCall = (name: string, args: readonly unknown[], work: () => unknown) => unknown;

/** Methods that are wrapped in another way. */
type SpecialMethods = Readonly<Record<string, (method: Method) => Method>>;

/** Returns the port, whose methods go through `call`; a function is a port with one method without a name. */
export function wrapPort<P extends object>(
  name: string,
  port: P,
  { call, special = {} }: { readonly call: StepCall; readonly special?: SpecialMethods },
): P {
  const wrap = (method: Method, id: string): Method => {
    const own = Object.hasOwn(special, id) ? special[id] : undefined;
    return own?.(method) ?? ((...args) => call(id === '' ? name : `${name}.${id}`, args, () => method(...args)));
  };
  if (typeof port === 'function') return wrap(port, '') as P; // any function can be called so
  const known = new Map<PropertyKey, unknown>();
  const read = (id: PropertyKey): unknown => {
    const value: unknown = Reflect.get(port, id, port);
    if (typeof value !== 'function' || typeof id === 'symbol') return value;
    if (!known.has(id)) known.set(id, wrap((value as Method).bind(port), String(id)));
    return known.get(id);
  };
  // Over an empty object: a proxy over a frozen port would have to return its own methods.
  return new Proxy({} as P, {
    has: (_, id) => id in port,
    ownKeys: () => Reflect.ownKeys(port),
    getOwnPropertyDescriptor: (_, id) =>
      Object.hasOwn(port, id) ? { value: read(id), configurable: true, enumerable: true, writable: true } : undefined,
    get: (_, id) => read(id),
  });
}

/**
 * Returns the port. Each call of a method is a step `name.method n`, for which the scheduler may return what happens in its place.
 * Calls are numbered by method, from 1. A port may also be a function, whose steps are `name n`.
 *
 * @example
 * const isStruck = (step: string) => step === 'storage.commit 3';
 * const storage = faulty('storage', memoryStorage(), (step) => isStruck(step) ? () => Promise.reject(new Error('No')) : undefined);
 */
export function faulty<P extends object>(name: string, port: P, scheduler: Scheduler): P {
  const next = createNumbers();
  return wrapPort(name, port, {
    call(id, args, work) {
      const step = next(id);
      const strike = scheduler(step);
      return strike ? strike({ step, args, go: async () => await work() }) : work();
    },
  });
}

/** Returns a function that numbers the steps of each name. */
export function createNumbers(): (name: string) => string {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} ${count}`;
  };
}
