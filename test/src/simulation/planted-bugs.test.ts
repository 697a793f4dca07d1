import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../../src/index.ts';
import { simulate, type SimulationReport, toText } from '../../../src/simulation/index.ts';
import { compose, sendOne } from '../../fixtures/simulation/app.ts';
import { type Bug, bugs, createTable, tableStorage } from '../../fixtures/simulation/table-storage.ts';

const seeds = 120;

/** Simulates the app over the sample adapter. */
async function simulateAdapter(bug?: Bug, given: number | readonly number[] = seeds): Promise<SimulationReport> {
  return await simulate({
    seeds: given,
    maxFailures: 3,
    world: ({ now }) => ({ table: createTable(), letters: [], now }),
    launch({ ports, port, world }) {
      const storage = tableStorage(port('table', world.table), { now: world.now, bug });
      return createRuntime(ports(compose({ ...world, storage })));
    },
    drive: sendOne,
  });
}

describe('a simulation of an app over an adapter of its own', () => {
  it('passes when the adapter keeps the rules', async () => {
    const report = await simulateAdapter(undefined, 600);
    expect(toText(report)).toContain('passed: 600 scenarios');
  });

  it.each(bugs)('finds an adapter that %s, and prints the seed', async (bug) => {
    const report = await simulateAdapter(bug);
    console.log(bug, toText(report));
    expect(report.ok).toBe(false);
  });
});
