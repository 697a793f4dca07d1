import { describe, expect, it } from 'vitest';
import { fromStored, toStored } from '../../../../demo/chat/store/stored-message.ts';
import type { AssistantMessage } from '../../../../demo/chat/state/message.ts';
import { planOf } from '../../../../demo/chat/state/plan.ts';
import { openQuestions, treeOf } from '../../../../demo/plan/state/plan-data.ts';
import { type PlanPart } from '../../../../demo/plan/state/plan-data.ts';
import { createReceiver } from '../../../../demo/chat/state/receive.ts';
import { toWireMessages } from '../../../../demo/chat/state/wire-messages.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import type { PlanView } from '../../../../src/planner/index.ts';
import { planQuestion, planTask, planView } from '../../../fixtures/page/plan-view.ts';
import { receive } from '../../../fixtures/page/receive.ts';

const shown = (view: PlanView): object => ({ type: 'data-plan', id: view.planId, data: view });

const tasks = [
  planTask('1', { status: 'waiting' }),
  planTask('1-1', { status: 'ready' }),
];

function partOf(message: AssistantMessage | undefined): PlanPart {
  const part = message && planOf(message);
  if (!part) throw new Error('There is no plan');
  return part;
}

describe('createReceiver, plans', () => {
  it('shows a plan once, as it stands now', () => {
    const message = receive(
      shown(planView([tasks[0]!])),
      shown(planView(tasks, { seq: 4 })),
      shown(planView(tasks, { seq: 4 })),
      { type: 'text-delta', id: 't', delta: 'Under way' },
    );
    expect(message.parts.value.map(({ type }) => type)).toEqual(['plan', 'text']);
    expect(partOf(message).view.value).toMatchObject({ seq: 4, counts: { waiting: 1, ready: 1 } });
  });

  it('leaves a malformed plan alone', () => {
    expect(receive({ type: 'data-plan', data: { planId: 'plan_1' } }).parts.value).toEqual([]);
  });

  it('does not count twice what following runs report of it, except their time', () => {
    const usage = (steps: number): object => ({
      type: 'data-usage',
      data: { steps, outputTokens: 10 * steps, durationMs: 50 },
    });
    const message = receive(shown(planView(tasks, { state: 'suspended' })), usage(4), { type: 'finish' });
    message.outcome.value = { type: 'running' };
    createReceiver(message, { now: () => 9 }).receive(usage(5) as UIMessageChunk); // safe: as the runtime writes it
    expect(message.facts.value.usage).toMatchObject({ steps: 5, outputTokens: 50, durationMs: 100 });
  });

  it('is stored with its answers, read as 0.2.0 stored it, and sent to no model', () => {
    const message = receive(shown(planView(tasks)), shown(planView(tasks, { seq: 2, questions: [planQuestion()] })));
    const { ask, agent, kind, question } = planQuestion();
    partOf(message).replies.value = {
      [ask]: { question: { ask, agent, kind, question }, said: 'You answered: Oslo', isOver: true },
    };
    const stored = fromStored(structuredClone(toStored(message)));
    if (stored?.role !== 'assistant') throw new Error('It was not kept');
    expect(partOf(stored).view.value).toEqual(partOf(message).view.value);
    expect(partOf(stored).at.value).toBe(partOf(message).at.value);
    expect(openQuestions(partOf(stored))).toEqual([]);
    expect(toWireMessages([message])).toEqual([]);
    const { parts, ...rest } = structuredClone(toStored(message)) as { parts: { view: unknown; at?: number }[] }; // an answer
    const before = parts.map(({ at: _, ...part }) => ({ ...part, history: [{ at: 7, view: part.view }] }));
    const read = fromStored({ ...rest, parts: before });
    expect(read?.role === 'assistant' && partOf(read).at.value).toBe(7);
  });
});

describe('treeOf', () => {
  it('puts each task below the one that gave it out, and one without it at the top', () => {
    const tree = treeOf(['1', '1-1', '1-2', '1-1-1', '2-7'].map((address) => planTask(address)));
    expect(tree.map(({ task, children }) => [task.address, children.length])).toEqual([['1', 2], ['2-7', 0]]);
    expect(tree[0]?.children[0]?.children[0]?.task.address).toBe('1-1-1');
  });
});
