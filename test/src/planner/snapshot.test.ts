import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner, type Storage } from '../../../src/index.ts';
import type { PlanEvent, RunAgent } from '../../../src/planner/index.ts';
import type { PlanState } from '../../../src/planner/plan-state.ts';
import { readState, stateOf, textOf } from '../../../src/planner/snapshots.ts';
import { actingAgent, driveToEnd } from '../../fixtures/plans/plan-crash.ts';
import { anyEvent, begin, fold, shown } from '../../fixtures/plans/plan-events.ts';
import { eventsOf, me, next, testPlanner } from '../../fixtures/plan.ts';
import { runs } from '../../fixtures/budget.ts';

/** The state after it was stored. */
function kept(state: PlanState): PlanState | undefined {
  const text = textOf(state);
  return text === undefined ? undefined : stateOf(text);
}

describe('a snapshot', () => {
  it('is the state that the events come to, and goes on as that does', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.nat(60), (events, cut) => {
        const all: readonly PlanEvent[] = [...begin, ...events];
        const state = kept(fold(all.slice(0, cut)));
        if (!state) return;
        expect(shown(state)).toEqual(shown(fold(all.slice(0, cut))));
        expect(shown(fold(all.slice(cut), state))).toEqual(shown(fold(all)));
      }),
      { numRuns: runs(500) },
    );
  });

  it('of a real plan is the state at every event', async () => {
    const { planner } = testPlanner(actingAgent(new Map()));
    const { planId } = await planner.start({ goal: 'g', allowHumanIntervention: true }, me);
    await driveToEnd(planner, planId, new Map());
    const events = (await eventsOf(planner, planId)).map(({ event }) => event);
    let count = 0;
    for (let cut = 1; cut < events.length; cut++) {
      const state = kept(fold(events.slice(0, cut)));
      if (!state) continue;
      count++;
      expect(shown(fold(events.slice(cut), state))).toEqual(shown(fold(events)));
    }
    expect(count).toBeGreaterThan(30);
  });

  it('knows what a late step has used, of an agent that had ended before', () => {
    const ended = fold([...begin, { type: 'agent.created', at: 2, id: '1-1', goal: 'g' }, {
      type: 'agent.cancelled',
      at: 3,
      id: '1-1',
      reason: 'r',
    }]);
    const late = fold([{ type: 'step.late', at: 4, step: '1-1#1', usage: { tokens: 5 } }], ended);
    expect(shown(kept(late) as PlanState)).toEqual(shown(late));
  });
});

/** Asks a person once its many children are done. */
const asksAtLast: RunAgent = async ({ address, step, inbox }) => {
  if (address !== '1') return { type: 'done', result: `${address} ${'x'.repeat(200)}` };
  if (step === 1) {
    return next(...Array.from({ length: 40 }, (_, i) => ({ type: 'create' as const, key: `k${i}`, goal: 'g' })));
  }
  if (step === 2) return next({ type: 'ask_human', question: 'Well?' }, { type: 'create', key: 'k7', goal: 'g' });
  return { type: 'done', result: inbox.map((item) => item.type) };
};

/** A plan that waits for a person, with snapshots behind it. */
async function suspended(): Promise<{ readonly storage: Storage; readonly planId: string; readonly askId: string }> {
  const { planner, storage } = testPlanner(asksAtLast, { limits: { snapshotEvents: 10 } });
  const outcome = await planner.run({ goal: 'g', allowHumanIntervention: true }, me);
  if (outcome.state !== 'suspended') throw new Error(outcome.state);
  await planner.close();
  return { storage, planId: outcome.planId, askId: outcome.questions[0]?.ask ?? '' };
}

async function answered({ storage, planId, askId }: Awaited<ReturnType<typeof suspended>>): Promise<unknown> {
  const planner = createPlanner({ storage, runAgent: asksAtLast, limits: { snapshotEvents: 10 } });
  await planner.reply(planId, me, { askId, answer: 'yes' });
  const outcome = await planner.outcome(planId, me);
  await planner.close();
  return outcome.state === 'done' ? outcome.result : outcome;
}

const expected = ['outcome', 'answer'];

/** Changes what is stored under the keys of this kind. */
async function spoil(storage: Storage, planId: string, { part, change }: {
  readonly part: string;
  readonly change: (value: unknown) => unknown;
}): Promise<void> {
  const entries = await storage.list({ prefix: ['plan', planId], limit: 1000 });
  const found = entries.filter(({ key }) => key[2] === part);
  expect(found.length).toBeGreaterThan(0);
  for (const { key, value } of found) {
    const changed = change(value);
    await storage.commit([{ key, ...(changed !== undefined && { value: changed }) }]);
  }
}

describe('a plan that is taken up', () => {
  it('goes on from its last snapshot and the events behind, without those before', async () => {
    const plan = await suspended();
    const { snapshot } = await readState(plan.storage, plan.planId);
    const before = await plan.storage.list({ prefix: ['plan', plan.planId, 'j'], limit: 1000 });
    for (const { key } of before) if (Number(key[3]) <= (snapshot?.seq ?? 0)) await plan.storage.commit([{ key }]);
    expect((await plan.storage.list({ prefix: ['plan', plan.planId, 'j'], limit: 1 }))[0]?.key).not.toEqual(
      before[0]?.key,
    );
    expect(await answered(plan)).toEqual(expected);
  });

  it('reads the whole journal when the snapshot is damaged, missing in part or completely, or of another version', async () => {
    const damages: Parameters<typeof spoil>[2][] = [
      { part: 's', change: (value) => `${value as string} ` },
      { part: 's', change: (value) => (value as string).replace('1', '2') },
      { part: 's', change: () => 7 },
      { part: 's', change: () => undefined },
      { part: 'snapshot', change: () => undefined },
      { part: 'snapshot', change: (value) => ({ ...(value as object), version: 0 }) },
      { part: 'snapshot', change: (value) => ({ ...(value as object), events: 99 }) },
      { part: 'snapshot', change: (value) => ({ ...(value as object), pieces: 0 }) },
      { part: 'snapshot', change: (value) => ({ ...(value as object), sum: undefined }) },
    ];
    for (const damage of damages) {
      const plan = await suspended();
      expect((await readState(plan.storage, plan.planId)).snapshot).toBeDefined();
      await spoil(plan.storage, plan.planId, damage);
      expect((await readState(plan.storage, plan.planId)).snapshot).toBeUndefined();
      expect(await answered(plan)).toEqual(expected);
    }
  });

  it('is read from a snapshot that takes several values', async () => {
    const wide: RunAgent = async ({ address, step, context }) => {
      if (address === '1' && step === 1) {
        const children = Array.from({ length: 60 }, (_, i) => ({
          type: 'create' as const,
          goal: `${i}`,
          after: i === 0 ? [] : [`1-${i}`],
          context: [`世${'y'.repeat(7000)}`],
        }));
        return next(...children);
      }
      return { type: 'done', result: context.length };
    };
    const storage = memoryStorage();
    const { planner } = testPlanner(wide, { storage, limits: { snapshotEvents: 40 } });
    const outcome = await planner.run({ goal: 'g' }, me);
    expect(outcome.state).toBe('done');
    const { snapshot, state } = await readState(storage, outcome.planId);
    expect(snapshot?.pieces).toBeGreaterThan(1);
    const events = (await eventsOf(planner, outcome.planId)).map(({ event }) => event);
    expect(shown(state)).toEqual(shown(fold(events)));
  });
});
