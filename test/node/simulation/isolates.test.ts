import { describe, expect, it } from 'vitest';
import { createEventQueue } from '../../bench/simulation/event-queue.ts';
import { type RunCost, type Scenario, simulate } from '../../bench/simulation/model.ts';

const cost: RunCost = {
  startCpuMs: 2,
  streamCpuMs: 8,
  startReads: 1,
  startCommits: 1,
  streamCommits: 4,
  changes: 2,
  bytes: 1000,
  answerMs: 1000,
};

const database = { readMs: 1, commitMs: 2, operationMs: 0.1, changeMs: 0.01 };

function scenario(changes: Partial<Scenario> = {}): Scenario {
  return {
    cost,
    database,
    isolates: 4,
    runsPerSecond: 20,
    seconds: 60,
    warmUpSeconds: 0,
    grouped: true,
    seed: 1,
    ...changes,
  };
}

describe('createEventQueue', () => {
  it('does everything in the order of time, and at one time in the order of asking', () => {
    const queue = createEventQueue();
    const done: string[] = [];
    const times = [5, 3, 9, 3, 1, 7, 5, 2];
    times.forEach((time, at) => queue.at(time, () => done.push(`${queue.now()} ${at}`)));
    queue.runUntil(7);
    expect(done).toEqual(['1 4', '2 7', '3 1', '3 3', '5 0', '5 6', '7 5']);
    queue.runUntil(10);
    expect(done.at(-1)).toBe('9 2');
  });
});

describe('simulate', () => {
  it('loses no run: whatever has not ended is still streaming', () => {
    const { started, ended, changesPerSecond } = simulate(scenario());
    expect(started).toBeGreaterThan(1000);
    expect(started - ended).toBeLessThan(60); // those of the last second and a half
    expect(changesPerSecond * 60 / (started * 10)).toBeCloseTo(1, 1); // five commits of two
  });

  it('gives the same outcome for the same seed, and another for another', () => {
    expect(simulate(scenario())).toEqual(simulate(scenario()));
    expect(simulate(scenario({ seed: 2 }))).not.toEqual(simulate(scenario()));
  });

  it('uses the share of CPU that the runs take, and waits as queueing theory says (M/D/1)', () => {
    const plain = { ...cost, startCpuMs: 10, streamCpuMs: 0, startReads: 0, startCommits: 0, streamCommits: 0 };
    const { cpuUse, firstByteMs } = simulate(scenario({ cost: plain, isolates: 1, runsPerSecond: 50, seconds: 400 }));
    expect(cpuUse).toBeCloseTo(0.5, 1);
    expect(firstByteMs.p50).toBeGreaterThanOrEqual(10);
    // The mean wait is half a service; one in a hundred waits for some.
    expect(firstByteMs.p99).toBeGreaterThan(30);
    expect(firstByteMs.p99).toBeLessThan(60);
  });

  it('sends fewer operations when commits are grouped, and the same changes', () => {
    const busy = { isolates: 2, runsPerSecond: 100, seconds: 30 };
    const [grouped, single] = [simulate(scenario(busy)), simulate(scenario({ ...busy, grouped: false }))];
    expect(grouped.operationsPerSecond).toBeLessThan(single.operationsPerSecond);
    expect(grouped.changesPerSecond / single.changesPerSecond).toBeCloseTo(1, 1);
  });

  it('counts nothing of the time in which it warmed up', () => {
    const [cold, warm] = [simulate(scenario({ seconds: 2 })), simulate(scenario({ seconds: 2, warmUpSeconds: 30 }))];
    expect(warm.started).toBeLessThan(100);
    expect(warm.changesPerSecond).toBeGreaterThan(cold.changesPerSecond);
    expect(warm.changesPerSecond).toBeCloseTo(200, -2);
  });

  it('breaks at the database when that takes less than the runs bring', () => {
    const slow = { ...database, changeMs: 10 }; // 100 changes a second
    const { databaseUse, firstByteMs } = simulate(scenario({ database: slow }));
    expect(databaseUse).toBeGreaterThan(0.95);
    expect(firstByteMs.p99).toBeGreaterThan(1000);
  });
});
