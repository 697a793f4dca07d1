/** What budgets of a period cost: commits a model call over four instances, and CPU of a run beside one without budgets. */

import process from 'node:process';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, localPrincipal, type PlanningRuntime, type Storage } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { cpuRounds, median, ratioOf, report, type Row } from '../measure.ts';

const answer = says(...Array.from({ length: 100 }, (_, at) => `token${at} `));

function instance(storage: Storage, hasBudgets: boolean): PlanningRuntime {
  const agents = [{ id: 'helper', name: 'Helper', providerId: 'p' }];
  const providers = [{ id: 'p', kind: 'custom' as const, prices: { input: 1, output: 2, currency: 'USD' } }];
  return createRuntime({
    catalog: staticCatalog({ agents, providers }),
    models: { model: () => scriptedModel(answer).model },
    storage,
    ...(hasBudgets && {
      budgets: [
        { id: 'team', of: 'tenant', every: 'day', tokens: 10_000_000, runs: 100_000 },
        { id: 'mine', of: 'subject', every: 'month', cost: { amount: 100, currency: 'USD' } },
      ] as const,
    }),
  });
}

let next = 0;

async function runOnce(runtime: PlanningRuntime): Promise<void> {
  const text = { type: 'text' as const, text: 'Which port?' };
  const chat = { id: `c${next++}`, messages: [{ id: 'm', role: 'user' as const, parts: [text] }] };
  for await (const _ of await runtime.run({ agentId: 'helper', chat }, localPrincipal()));
}

async function measureCommits(): Promise<Row> {
  const base = memoryStorage();
  let commits = 0;
  const storage: Storage = {
    ...base,
    commit(changes) {
      if (changes.some(({ key }) => key[0] === 'spent')) commits += 1;
      return base.commit(changes);
    },
  };
  const instances = Array.from({ length: 4 }, () => instance(storage, true));
  const calls = 2_000;
  for (let at = 0; at < calls; at += 200) {
    await Promise.all(Array.from({ length: 200 }, (_, one) => runOnce(instances[one % 4]!)));
  }
  const each = commits / calls;
  await Promise.all(instances.map((one) => one.close()));
  const value = `${each.toFixed(4)} commits`;
  return { figure: 'A model call, 4 instances, two budgets', value, bar: '<= 0.05', met: each <= 0.05 };
}

async function measureCpu(): Promise<Row> {
  const [plain, paid] = [instance(memoryStorage(), false), instance(memoryStorage(), true)];
  const runs = { plain: () => runOnce(plain), paid: () => runOnce(paid) };
  const { plain: without = [], paid: withBudgets = [] } = await cpuRounds(runs, {
    rounds: 15,
    calls: 200,
    warmup: 300,
  });
  const ratio = ratioOf(withBudgets, without);
  return {
    figure: 'CPU of a run with two budgets',
    value: `${median(withBudgets).toFixed(3)} ms/run`,
    peer: `${median(without).toFixed(3)} ms/run without`,
    ratio: ratio.toFixed(3),
    bar: '<= 1.02',
    met: ratio <= 1.02,
  };
}

report('Budgets of a period', [await measureCommits(), await measureCpu()]);
process.exit(0);
