import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanEvent, RunAgent } from '../../../src/planner/index.ts';
import { createPlanState } from '../../../src/planner/plan-state.ts';
import { reduce } from '../../../src/planner/reduce.ts';
import { anyEvent, begin, fold, shown, terms } from '../../fixtures/plans/plan-events.ts';
import { done, me, next, resultsOf, testPlanner } from '../../fixtures/plan.ts';
import { runs } from '../../fixtures/budget.ts';

describe('reduce', () => {
  it('accepts or refuses every event in every state, never throws, and a refused one changes nothing', () => {
    const harmed = fc.check(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        const state = fold(begin);
        return events.every((event) => {
          const before = JSON.stringify(shown(state));
          return reduce(state, event) === undefined || JSON.stringify(shown(state)) === before;
        });
      }),
      { numRuns: runs(300) },
    );
    expect(harmed.counterexample).toBeNull();
  });

  it('folds in parts as it folds at once', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.nat(40), (events, cut) => {
        const all = [...begin, ...events];
        const parts = fold(all.slice(cut), fold(all.slice(0, cut)));
        expect(shown(parts)).toEqual(shown(fold(all)));
      }),
      { numRuns: runs(200) },
    );
  });

  it('takes no event after the end, and no second end of anything', () => {
    const ended = fold([...begin, { type: 'agent.created', at: 2, id: '1-1', goal: 'g' }, {
      type: 'agent.done',
      at: 3,
      id: '1-1',
      result: 1,
    }]);
    const table: readonly [PlanEvent, string | undefined][] = [
      [{ type: 'agent.done', at: 4, id: '1-1', result: 2 }, 'the agent has ended'],
      [{ type: 'agent.created', at: 4, id: '1-1', goal: 'g' }, 'there is such an agent'],
      [{ type: 'agent.created', at: 4, id: '1-1-1', goal: 'g' }, 'there is no such living parent'],
      [{ type: 'agent.created', at: 4, id: '1-3', goal: 'g' }, 'the address is not the next'],
      [{ type: 'step.done', at: 4, step: '1-1#1', seen: 0, wait: { mode: 'none' } }, 'the agent has ended'],
      [
        { type: 'step.done', at: 4, step: '1#2', seen: 0, wait: { mode: 'none' } },
        'the activity is not the current one',
      ],
      [{ type: 'ask.answered', at: 4, ask: 'a', by: 'me', answer: 1 }, 'the question is closed'],
      [{ type: 'run.done', at: 4, result: 1, cites: [] }, 'the first agent has not ended'],
      [{
        type: 'run.created',
        at: 4,
        v: 1,
        planId: 'p',
        owner: { tenant: 't', subject: 's', agents: '*', scopes: [] },
        terms,
      }, 'the plan has begun'],
      [{ type: 'agent.done', at: 4, id: '1', result: 1 }, undefined],
      [{ type: 'run.done', at: 4, result: 1, cites: [] }, undefined],
      [{ type: 'run.cancelled', at: 5, reason: 'late' }, 'the plan has ended'],
      [{ type: 'agent.created', at: 5, id: '1-2', goal: 'g' }, 'the plan has ended'],
    ];
    for (const [event, refusal] of table) expect([event.type, reduce(ended, event)]).toEqual([event.type, refusal]);
    expect(reduce(createPlanState(), begin[1] as PlanEvent)).toBe('the plan has not begun');
  });
});

/** A plan that is random but the same each time: what each agent makes follows from its address. */
function randomAgent(seed: number): RunAgent {
  return async (task) => {
    let hash = seed;
    for (const char of `${task.address}#${task.step}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    if (task.step > 2 || !task.mayCreate || hash % 7 === 0) return done({ ...resultsOf(task), own: hash % 10 });
    const children = Array.from(
      { length: (hash >> 3) % 4 },
      (_, i) => ({ type: 'create' as const, goal: `${i}`, key: `${task.step}-${i}` }),
    );
    return next(...children, { type: 'call', tool: 't', input: hash, effect: 'pure' });
  };
}

/** What the plan comes to, worked out by plain recursion. */
async function reference(seed: number, path: string, depth: number): Promise<unknown> {
  const results: Record<string, unknown> = {};
  let fresh: Record<string, unknown> = {};
  let count = 0;
  for (let turn = 1;; turn++) {
    const inbox = Object.entries(fresh).map(([key, value]) => ({
      type: 'result',
      from: '',
      key,
      ok: true,
      result: { value },
    }));
    const outcome = await randomAgent(seed)(
      { address: path, step: turn, mayCreate: depth < 3, inbox } as never,
      {} as never,
    );
    Object.assign(results, fresh);
    if (outcome.type === 'done') return outcome.result;
    fresh = {};
    for (const action of outcome.type === 'next' ? outcome.actions ?? [] : []) {
      if (action.type === 'create') fresh[action.key ?? ''] = await reference(seed, `${path}-${++count}`, depth + 1);
    }
  }
}

describe('random plans', () => {
  it('come to what plain recursion comes to, one or many at a time, in as many steps', async () => {
    for (let seed = 1; seed <= 250; seed++) {
      const expected = await reference(seed, '1', 0);
      const counts: number[] = [];
      for (const maxParallelism of [1, 2, 5, 64]) {
        let count = 0;
        const agent = randomAgent(seed);
        const { planner } = testPlanner(async (task, context) => {
          count++;
          return task.call ? { type: 'output', output: 1 } : await agent(task, context);
        });
        const outcome = await planner.run({ goal: 'g', maxDepth: 3, maxParallelism, budget: { steps: 2000 } }, me);
        expect(outcome).toMatchObject({ state: 'done', result: expected });
        counts.push(count);
      }
      expect(new Set(counts).size).toBe(1);
    }
  }, 120_000);
});
