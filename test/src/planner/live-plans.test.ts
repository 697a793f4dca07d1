import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner } from '../../../src/index.ts';
import { unobserved } from '../../../src/events/events.ts';
import { LivePlans } from '../../../src/planner/live-plans.ts';
import type { RunAgent } from '../../../src/planner/index.ts';
import { defaultPlanLimits } from '../../../src/planner/plan-limits.ts';
import { done, me } from '../../fixtures/plan.ts';

const { leaseMs } = defaultPlanLimits;
const never: RunAgent = () => new Promise(() => undefined);

/** A process that has started a plan, and the live plans of another, which end what they claim. */
async function twoProcesses() {
  const storage = memoryStorage();
  const owner = createPlanner({ storage, runAgent: never });
  const { planId } = await owner.start({ goal: 'g' }, me);
  await vi.advanceTimersByTimeAsync(1_000); // its start is committed
  const claimed: string[] = [];
  const runAgent: RunAgent = async ({ address }) => {
    claimed.push(address);
    return done('by the other');
  };
  const reports: unknown[] = [];
  const options = {
    arm: () => undefined,
    notices: undefined,
    authorize: undefined,
    emit: unobserved,
    metrics: undefined,
    limits: defaultPlanLimits,
  };
  const report = (cause: unknown) => void reports.push(cause);
  const live = new LivePlans({ ...options, storage, runAgent, report, now: Date.now });
  return { owner, planId, live, claimed, reports };
}

describe('LivePlans.guard', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('claims and continues the plan of a reader once the lease of a lost owner is over', async () => {
    const { owner, planId, live, claimed, reports } = await twoProcesses();
    await owner.close(); // without a word in the storage, as a process that was killed
    const stop = live.guard(planId);
    await vi.advanceTimersByTimeAsync(leaseMs / 2);
    expect(claimed).toEqual([]);
    await vi.advanceTimersByTimeAsync(leaseMs);
    expect(claimed).toEqual(['1']);
    stop();
    await live.close();
    expect(reports).toEqual([]);
  });

  it('claims the plan that its owner has handed over within a second', async () => {
    const { owner, planId, live, claimed, reports } = await twoProcesses();
    await owner.close({ handOver: true });
    const stop = live.guard(planId);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(claimed).toEqual(['1']);
    stop();
    await live.close();
    expect(reports).toEqual([]);
  });

  it('leaves the plan to an owner that shows signs of life', async () => {
    const { owner, planId, live, claimed } = await twoProcesses();
    const stop = live.guard(planId);
    await vi.advanceTimersByTimeAsync(4 * leaseMs);
    expect(claimed).toEqual([]);
    stop();
    await Promise.all([owner.close(), live.close()]);
  });
});
