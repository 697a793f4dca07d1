/** One simulated instance of an app: its steps, its clock, and its end. */

import type { Chance } from './chance.ts';
import type { FaultStrike, StruckInstance } from './fault.ts';
import { createNumbers, type StepCall } from './faulty.ts';
import type { VirtualTime } from './time/virtual-time.ts';

/** A text that faults put into errors and answers, and that must come out nowhere. */
export const canary = 'CANARY-fault-Hn54Yd20';

/** An instance, as a scenario sees it. */
export interface Instance extends StruckInstance {
  /** Every call of a port so far. */
  readonly steps: readonly string[];
  readonly call: StepCall;
  readonly now: () => number;
  readonly isDead: () => boolean;
  /** Resolves when it is killed. */
  readonly killed: Promise<void>;
}

/** What an instance needs. */
export interface InstanceOptions {
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly schedule: (step: string) => FaultStrike | undefined;
}

const never = (): Promise<never> => new Promise(() => undefined);

/** Creates an instance. */
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
