import { describe, expect, inject, it } from 'vitest';
import { createChance } from '../../../../src/simulation/chance.ts';
import { failedSeeds } from '../../../fixtures/failed-seeds.ts';
import { type Fault, faults } from '../../../fixtures/faults/faults.ts';
import { plain } from '../../../fixtures/faults/fixtures.ts';
import { guide } from '../../../fixtures/faults/guide.ts';
import { runScenario, stepsWithoutFault } from '../../../fixtures/faults/run-scenario.ts';

const seed = inject('faultSeed');
const steps = await stepsWithoutFault();
const chance = createChance(inject('sampleSeed'));

/** The steps at which the fault strikes: all, or a random sample and those at which it once failed. */
function stepsOf({ name, at, agedMs }: Fault): readonly string[] {
  const all = steps.filter((step) => at.test(step) && !step.startsWith('storage.list')) // instances look at each other now and then
    .slice(0, agedMs === undefined ? undefined : 1);
  const most = inject('faultSteps');
  if (all.length <= most) return all;
  const failed = failedSeeds.faults.filter(({ scenario, fault }) => scenario === plain.name && fault === name);
  return [...new Set([...failed.map(({ step }) => step), ...Array.from({ length: most }, () => chance.of(all))])];
}

describe('the faults of the security guide', () => {
  it.each(Object.entries(guide))('%s: each of %j strikes some step', (_, names) => {
    const struck = faults.filter(({ at }) => steps.some((step) => at.test(step))).map(({ name }) => name);
    expect(struck).toEqual(expect.arrayContaining([...names]));
  });
});

describe.each(faults)('a run under the fault "$name"', (fault) => {
  it.each(stepsOf(fault))('at %s ends once, as it must, and leaves nothing behind', async (step) => {
    const { ended, tools, problems } = await runScenario(fault, step, { seed });
    const hint = [`FAULT_SEED=${seed}`, `ended: ${ended}`, `tools: ${tools.join()}`, ...problems].join('\n');
    expect(problems, hint).toEqual([]);
    expect(fault.ends.filter((way) => ended.startsWith(way)), hint).not.toEqual([]);
    expect([fault.tool, ...fault.tools ?? []], hint).toEqual(expect.arrayContaining([...tools]));
    expect(tools.length > 0 || fault.tool === undefined, hint).toBe(true);
  });
});
