import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { openPlanner } from '../../../src/planner/open-planner.ts';
import { plannerOnUse } from '../../../src/planner/create-planner.ts';
import type { LoadedPlanner, OpenPlannerOptions } from '../../../src/planner/planner.ts';
import type { Instances } from '../../../src/log/instances.ts';
import { done, me } from '../../fixtures/plan.ts';

/** A planner on use over a storage in memory, and how often its code was loaded. */
function onUse({ failures = 0, storage = memoryStorage(), now = Date.now } = {}) {
  let loads = 0;
  const metrics = createMetrics();
  const load = async (shared: Pick<OpenPlannerOptions, 'arm'> & { instances: Instances }): Promise<LoadedPlanner> => {
    if (++loads <= failures) throw new TypeError('Failed to fetch');
    return openPlanner({ ...shared, storage, metrics, now, runAgent: async () => done('ready') });
  };
  return { planner: plannerOnUse({ storage, metrics, now }, load), metrics, loads: () => loads };
}

describe('plannerOnUse', () => {
  it('rejects a call when loading fails, and loads again for the next call', async () => {
    const { planner, loads } = onUse({ failures: 1 });
    await expect(planner.start({ goal: 'one' }, me)).rejects.toThrow('Failed to fetch');
    expect(await planner.run({ goal: 'one' }, me)).toMatchObject({ state: 'done' });
    expect(loads()).toBe(2);
  });

  it('refuses plans after it is closed, whether it was loaded or not', async () => {
    for (const isLoaded of [false, true]) {
      const { planner } = onUse();
      if (isLoaded) await planner.run({ goal: 'one' }, me);
      await planner.close();
      await expect(planner.start({ goal: 'two' }, me)).rejects.toMatchObject({ code: 'unavailable' });
    }
  });

  it('counts no open plans before it is loaded', async () => {
    const { planner, metrics } = onUse();
    expect(planner.openPlans()).toBe(0);
    expect(metrics.text()).toContain('pinnace_open_plans 0');
  });
});
