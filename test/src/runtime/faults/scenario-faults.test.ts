import { describe, expect, inject, it } from 'vitest';
import { createChance } from '../../../fixtures/chance/chance.ts';
import { cargoes } from '../../../fixtures/faults/cargo.ts';
import { type Fault, faultsElsewhere } from '../../../fixtures/faults/faults.ts';
import { fairSteps, sail } from '../../../fixtures/faults/sail.ts';
import type { Cargo } from '../../../fixtures/faults/ship.ts';

const seed = inject('faultSeed');
const chance = createChance(seed);
const perCargo = inject('faultsPerCargo');
const voyages: { readonly cargo: Cargo; readonly steps: readonly string[] }[] = [];
for (const cargo of cargoes) voyages.push({ cargo, steps: await fairSteps(cargo) });

/** Each fault strikes at one step that chance gives; where that is too many, chance gives the faults too. */
function strikes(steps: readonly string[]): readonly { readonly fault: Fault; readonly step: string }[] {
  const all = faultsElsewhere.flatMap((fault) => {
    const fitting = steps.filter((step) => fault.at.test(step));
    return fitting.length === 0 ? [] : [{ fault, step: chance.of(fitting) }];
  });
  return all.length <= perCargo ? all : [...new Set(Array.from({ length: perCargo }, () => chance.of(all)))];
}

describe.each(voyages)('$cargo.name under a fault', ({ cargo, steps }) => {
  it.each(strikes(steps))(
    '"$fault.name" at $step ends as it must, and leaves nothing behind',
    async ({ fault, step }) => {
      const { legs, struck, tools, problems } = await sail(fault, step, { seed, cargo });
      const hint = [`FAULT_SEED=${seed}`, `ended: ${legs.join()}`, `tools: ${tools.join()}`, ...problems].join('\n');
      expect(problems, hint).toEqual([]);
      if (!struck) return expect(legs.at(-1), hint).toBe('completed');
      const isOneOf = (ways: readonly string[]) => (ended: string) => ways.some((way) => ended.startsWith(way));
      expect(legs.filter((leg) => !isOneOf([...fault.ends, ...cargo.ends ?? []])(leg)), hint).toEqual([]);
      if (!cargo.ends?.includes('failed')) expect(legs.some(isOneOf(fault.ends)), hint).toBe(true);
      expect([fault.tool, ...fault.tools ?? [], ...cargo.tools ?? []], hint).toEqual(
        expect.arrayContaining([...tools]),
      );
    },
  );
});
