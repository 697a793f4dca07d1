/** What the peers do not have: commits, resume, suspension. Absolute figures. */

import process from 'node:process';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner, type Storage } from '../../../src/index.ts';
import { defaultPlanLimits } from '../../../src/planner/index.ts';
import { readState } from '../../../src/planner/snapshots.ts';
import { collect, cpuMs, median, type Row } from '../measure.ts';
import { counted, leaf, me, runFlat } from './plans.ts';
import { parallelism } from './peers.ts';

function row(
  figure: string,
  value: number,
  { unit, most, digits = 1 }: { unit: string; most: number; digits?: number },
): Row {
  return { figure, value: `${value.toFixed(digits)} ${unit}`, bar: `<= ${most} ${unit}`, met: value <= most };
}

export async function measureOwn(): Promise<readonly Row[]> {
  const [storage, usual] = [counted(), counted()];
  await runFlat(10_000, storage.storage);
  await runFlat(defaultPlanLimits.agents - 1, usual.storage);
  return [
    row('commits for 10,000 tasks', storage.commits(), { unit: '', most: 700, digits: 0 }),
    row('journal for one task', storage.journalLength() / 10_000, { unit: 'characters', most: 300, digits: 0 }),
    ...await measureResume(usual.storage),
    await measureReply(),
    await measureMemory(),
  ];
}

/** Reads the state of a plan with as many tasks as the default limit allows, all of them done: about 4,000 events. */
async function measureResume(storage: Storage): Promise<readonly Row[]> {
  const [entry] = await storage.list({ prefix: ['plan'], limit: 1 });
  const planId = entry?.key[1] as string; // there is one plan
  const { snapshot } = await readState(storage, planId);
  if (!snapshot || snapshot.seq < 2000) throw new Error('There is no late snapshot');
  const withoutSnapshot: Storage = {
    ...storage,
    get: async (key) => key[2] === 'snapshot' ? undefined : await storage.get(key),
  };
  const [whole, late] = [await measureRead(withoutSnapshot, planId), await measureRead(storage, planId)];
  return [
    row('fold of 2,000 tasks, read from the storage (CPU)', whole, { unit: 'ms', most: 15 }),
    row(`the same from the snapshot at event ${snapshot.seq} (CPU)`, late, { unit: 'ms', most: 15 }),
  ];
}

async function measureRead(storage: Storage, planId: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 25; i++) {
    const before = cpuMs();
    await readState(storage, planId);
    times.push(cpuMs() - before);
  }
  return median(times.slice(10));
}

/** From the reply of a person to the first activity that follows from it. */
async function measureReply(): Promise<Row> {
  const times: number[] = [];
  let started = 0;
  const planner = createPlanner({
    storage: memoryStorage(),
    async runAgent({ step }) {
      if (step === 1) return { type: 'next', actions: [{ type: 'ask_human', question: 'Go on?' }] };
      times.push(performance.now() - started);
      return { type: 'done', result: 1 };
    },
  });
  for (let i = 0; i < 200; i++) {
    const suspended = await planner.run({ goal: 'ask', allowHumanIntervention: true }, me);
    if (suspended.state !== 'suspended') throw new Error(suspended.state);
    started = performance.now();
    await planner.reply(suspended.planId, me, { askId: suspended.questions[0]?.ask ?? '', answer: 'yes' });
    await planner.outcome(suspended.planId, me);
  }
  return row('from a reply to the first activity', median(times.slice(50)), { unit: 'ms', most: 1, digits: 2 });
}

/** What 10,000 living agents take, with those at work and all records in the same memory. */
async function measureMemory(): Promise<Row> {
  collect();
  const before = process.memoryUsage().heapUsed;
  const gate = Promise.withResolvers<void>();
  const storage = memoryStorage();
  const planner = createPlanner({
    storage,
    limits: { agents: 20_000 },
    runAgent: async (task, context) => {
      await gate.promise;
      return await leaf(task, context);
    },
  });
  const tasks = Array.from({ length: 10_000 }, (_, i) => ({ key: `t${i}`, goal: `${i}` }));
  const { planId } = await planner.start({ goal: 'many', maxParallelism: parallelism, plan: { tasks } }, me);
  collect();
  const used = (process.memoryUsage().heapUsed - before) / 1e6;
  gate.resolve();
  await planner.outcome(planId, me);
  return row('heap of 10,000 living agents, storage included', used, { unit: 'MB', most: 40 });
}
