/** Which faults strike a scenario, and when. */

import { createChance } from './chance.ts';
import type { Fault, FaultStrike } from './faults.ts';
import type { StruckFault } from './report.ts';

/**
 * Chooses the faults of a seed: a fault among those that fit some step, then a method that it fits, then a call of this method. So a
 * method that is called once is struck as often as one that is called a thousand times.
 */
export function chooseFaults(
  seed: number,
  { faults, steps, count }: {
    readonly faults: readonly Fault[];
    readonly steps: readonly string[];
    readonly count: number;
  },
): readonly StruckFault[] {
  const chance = createChance(seed);
  const fitting = faults.flatMap(({ name, at }) => {
    const methods = Map.groupBy(steps.filter((step) => at.test(step)), (step) => step.slice(0, step.lastIndexOf(' ')));
    return methods.size === 0 ? [] : [{ name, methods: [...methods.values()] }];
  });
  if (fitting.length === 0) return [];
  const chosen = Array.from({ length: count }, () => {
    const { name, methods } = chance.of(fitting);
    return { fault: name, step: chance.of(chance.of(methods)) };
  });
  return chosen.filter(({ fault }, at) => chosen.findIndex((other) => other.fault === fault) === at);
}

export type Schedule = ReturnType<typeof createSchedule>;

export function createSchedule(planned: readonly StruckFault[], faults: readonly Fault[]) {
  const struck = new Set<string>();
  let [isLasting, isOver] = [true, false];
  const armed = planned.flatMap(({ fault, step }) =>
    faults.filter(({ name }) => name === fault).map((one) => ({ ...one, step }))
  );
  return {
    struck,
    /** Faults that last are over. */
    endLasting: (): void => void (isLasting = false),
    /** No fault strikes any more. */
    end: (): void => void (isOver = true),
    strikeAt(step: string): FaultStrike | undefined {
      const fault = isOver
        ? undefined
        : armed.find((one) => one.step === step || isLasting && one.lasts && struck.has(one.name) && one.at.test(step));
      if (fault) struck.add(fault.name);
      return fault?.strike;
    },
  };
}

/** Returns the smallest set of the faults that still fails, by leaving out one after the other. */
export async function shrink(
  planned: readonly StruckFault[],
  fails: (fewer: readonly StruckFault[]) => Promise<boolean>,
): Promise<readonly StruckFault[]> {
  for (const one of planned) {
    const fewer = planned.filter((other) => other !== one);
    if (fewer.length > 0 && await fails(fewer)) return await shrink(fewer, fails);
  }
  return planned;
}
