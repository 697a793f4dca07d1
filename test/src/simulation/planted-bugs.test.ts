import { describe, expect, inject, it } from 'vitest';
import { simulate, toText } from '../../../src/simulation/index.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { appOver } from '../../fixtures/simulation/app.ts';
import { cleanSeeds, mostSeeds, simulateAdapter } from '../../fixtures/simulation/simulate-adapter.ts';
import type { Bug } from '../../fixtures/simulation/table-storage.ts';

/** What is reported of each bug: a rule that it breaks, or what an app does because of it. */
const found: Readonly<Record<Bug, RegExp>> = {
  'writes the keys of a commit one after the other':
    /written in part|executed 2 times|reports a conflict, though|differs/,
  'acknowledges a commit before it is written': /list leaves out an entry|get misses|old value/,
  'reads from a cache that writes do not clear': /returns an old value of|get misses/,
  'ignores versions': /ignores that the version of/,
  'lists in the order of the table': /returns entries out of order/,
  'repeats a commit whose answer was lost':
    /reports a conflict, though every version is as expected|that was not written/,
  'drops the last entry of a list': /list leaves out an entry/,
};

describe('a simulation of an app over an adapter of its own', () => {
  it('passes when the adapter keeps the rules', async () => {
    expect(toText(await simulateAdapter(undefined, cleanSeeds))).toMatch(
      new RegExp(`^Simulation passed: ${cleanSeeds} scenarios, .* ${cleanSeeds} struck\\.$`),
    );
  });

  it.each(Object.entries(found))(
    'finds an adapter that %s, with a seed that repeats it',
    async (name, problem) => {
      const bug = name as Bug; // a key of the record above
      const faults = inject('isLong') ? 'all' : 'showing';
      const report = await simulateAdapter(bug, mostSeeds, faults);
      const text = toText(report);
      console.log(`${bug}\n${text}`);
      expect(text).toMatch(problem);
      const [failure] = report.failures;
      expect(text).toContain(failure?.seed === 0 ? 'without any fault' : `Repeat with seeds: [${failure?.seed}]`);
      const again = await simulateAdapter(bug, [failure?.seed ?? -1], faults);
      expect(again.failures).toEqual(report.failures);
    },
  );
});

describe('a simulation of an app over the storage in memory', () => {
  it('finds nothing wrong', async () => {
    const report = await simulate({ ...appOver(memoryStorage), seeds: cleanSeeds });
    expect(toText(report)).toContain(`Simulation passed: ${cleanSeeds} scenarios`);
  });
});
