import { describe, expect, inject, it } from 'vitest';
import { createChance } from '../../../../src/simulation/chance.ts';
import { failedSeeds } from '../../../fixtures/failed-seeds.ts';
import { fixtures } from '../../../fixtures/faults/fixtures.ts';
import { type Fault, faultsElsewhere } from '../../../fixtures/faults/faults.ts';
import { runScenario, stepsWithoutFault } from '../../../fixtures/faults/run-scenario.ts';
import type { Fixture } from '../../../fixtures/faults/instance.ts';

const seed = inject('faultSeed');
const [chance, sample] = [createChance(seed), createChance(inject('sampleSeed'))];
const perFixture = inject('faultsPerFixture');
const scenarios: { readonly fixture: Fixture; readonly steps: readonly string[] }[] = [];
for (const fixture of fixtures) scenarios.push({ fixture, steps: await stepsWithoutFault(fixture) });

interface StruckStep {
  readonly fault: Fault;
  readonly step: string;
}

/** One step for each fault by the seed; of these all, or a random sample and those that once failed. */
function strikes({ name, steps }: { readonly name: string; readonly steps: readonly string[] }): readonly StruckStep[] {
  const all = faultsElsewhere.flatMap((fault) => {
    const fitting = steps.filter((step) => fault.at.test(step));
    return fitting.length === 0 ? [] : [{ fault, step: chance.of(fitting) }];
  });
  if (all.length <= perFixture) return all;
  const failed = failedSeeds.faults.filter(({ scenario }) => scenario === name).flatMap(({ fault, step }) =>
    faultsElsewhere.filter((one) => one.name === fault).map((one) => ({ fault: one, step }))
  );
  return [...failed, ...new Set(Array.from({ length: perFixture }, () => sample.of(all)))];
}

describe.each(scenarios)('$fixture.name under a fault', ({ fixture, steps }) => {
  it.each(strikes({ name: fixture.name, steps }))(
    '"$fault.name" at $step ends as it must, and leaves nothing behind',
    async ({ fault, step }) => {
      const { runs, struck, tools, problems } = await runScenario(fault, step, { seed, fixture });
      const hint = [`FAULT_SEED=${seed}`, `ended: ${runs.join()}`, `tools: ${tools.join()}`, ...problems].join('\n');
      expect(problems, hint).toEqual([]);
      if (!struck) return expect(runs.at(-1), hint).toBe('completed');
      const isOneOf = (ways: readonly string[]) => (ended: string) => ways.some((way) => ended.startsWith(way));
      expect(runs.filter((run) => !isOneOf([...fault.ends, ...fixture.ends ?? []])(run)), hint).toEqual([]);
      if (!fixture.ends?.includes('failed')) expect(runs.some(isOneOf(fault.ends)), hint).toBe(true);
      expect([fault.tool, ...fault.tools ?? [], ...fixture.tools ?? []], hint).toEqual(
        expect.arrayContaining([...tools]),
      );
    },
  );
});
