/** The plans that are measured. */

import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { ActionInput, RunAgent } from '../../../src/planner/index.ts';
import { createPlanner, localPrincipal, type Storage } from '../../../src/index.ts';
import { answer, parallelism } from './peers.ts';

export const me = localPrincipal();

/** Does one task with an answer of the model. */
export const leaf: RunAgent = async ({ goal }) => ({ type: 'done', result: await answer(Number(goal)) });

/** Runs this many tasks in parallel, stores every result, and returns how many ran. */
export async function runFlat(count: number, storage: Storage = memoryStorage()): Promise<number> {
  const planner = createPlanner({ storage, runAgent: leaf, limits: { agents: count + 1 } });
  const tasks = Array.from({ length: count }, (_, i) => ({ key: `t${i}`, goal: `${i}` }));
  const outcome = await planner.run({ goal: 'flat', maxParallelism: parallelism, plan: { tasks } }, me);
  return outcome.state === 'done' ? outcome.cites.length : 0;
}

/** Runs a tree of agents of three levels, each of which makes its children by an answer of the model, and counts the leaves. */
export async function runNested(width: number): Promise<number> {
  const runAgent: RunAgent = async ({ depth, step, inbox }) => {
    await answer(1);
    if (depth === 3) return { type: 'done', result: 1 };
    if (step === 1) {
      return {
        type: 'next',
        actions: Array.from({ length: width }, (_, i): ActionInput => ({ type: 'create', goal: `${i}` })),
      };
    }
    const result = inbox.reduce(
      (sum, item) => item.type === 'result' && item.ok ? sum + Number(item.result.value) : sum,
      0,
    );
    return { type: 'done', result };
  };
  const planner = createPlanner({ storage: memoryStorage(), runAgent });
  const outcome = await planner.run({ goal: 'nested', maxDepth: 3, maxParallelism: parallelism }, me);
  return outcome.state === 'done' ? Number(outcome.result) : 0;
}

/** A storage that counts commits and bytes of journal. */
export function counted(): {
  readonly storage: Storage;
  readonly commits: () => number;
  readonly journalLength: () => number;
} {
  const inner = memoryStorage();
  let [commits, length] = [0, 0];
  return {
    commits: () => commits,
    journalLength: () => length,
    storage: {
      get: (key) => inner.get(key),
      list: (options) => inner.list(options),
      commit(changes) {
        commits++;
        for (const { key, value } of changes) {
          if (key[2] === 'j') length += (value as readonly string[]).reduce((sum, item) => sum + item.length, 0);
        }
        return inner.commit(changes);
      },
    },
  };
}
