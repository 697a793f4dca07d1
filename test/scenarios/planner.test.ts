import { describe, expect, it } from 'vitest';
import type { AgentTask, StepOutcome } from '../../src/planner/index.ts';
import type { ObservedEvent } from '../../src/index.ts';
import { createEmit } from '../../src/events/event-ring.ts';
import { done, me, next, resultsOf, testPlanner } from '../fixtures/plan.ts';

const request = {
  goal: 'Compare three cities',
  context: ['The reader is a tourist'],
  constraints: 'One sentence each',
  maxDepth: 2,
  maxParallelism: 2,
  allowHumanIntervention: true,
  timeout: 60_000,
  traceId: '0af7651916cd43dd8448eb211c80319c',
};

describe('Workflow Orchestrator (Dynamic Planner)', () => {
  it('动态规划与并行执行', async () => {
    const tasks: AgentTask[] = [];
    let atOnce = 0;
    let most = 0;
    const { planner } = testPlanner(async (task, { signal }): Promise<StepOutcome> => {
      tasks.push(task);
      expect(signal.aborted).toBe(false);
      if (task.address === '1' && task.step === 1) {
        return next(
          { type: 'plan_revise', outline: ['Look at each city', 'Compare them'] },
          ...['Rome', 'Oslo', 'Kyoto'].map((city) => ({
            type: 'create' as const,
            key: city,
            goal: `Describe ${city}`,
          })),
          { type: 'send', to: 'Oslo', body: 'Mention the weather' },
        );
      }
      if (task.address === '1') return done(Object.values(resultsOf(task)).join('; '));
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve));
      atOnce--;
      const notes = task.inbox.map((item) => item.type === 'message' ? ` (${String(item.body.value)})` : '');
      return done(task.goal.replace('Describe ', '') + notes.join(''));
    });
    const outcome = await planner.run(request, me);
    expect(outcome).toMatchObject({
      state: 'done',
      result: 'Rome; Oslo (Mention the weather); Kyoto',
      cites: ['1-1', '1-2', '1-3'],
    });
    expect(most).toBe(2);
    expect(tasks[0]).toMatchObject({
      goal: request.goal,
      context: request.context,
      constraints: request.constraints,
      traceId: request.traceId,
      address: '1',
    });
    expect(new Set(tasks.map(({ address }) => address))).toEqual(new Set(['1', '1-1', '1-2', '1-3']));
  });

  it('人类介入', async () => {
    const observed: ObservedEvent[] = [];
    const steps: string[] = [];
    const { planner } = testPlanner(async (task): Promise<StepOutcome> => {
      steps.push(`${task.address}#${task.step}`);
      if (task.address === '1' && task.step === 1) {
        return next({ type: 'create', key: 'book', goal: 'Book a hotel' }, {
          type: 'create',
          key: 'read',
          goal: 'Read reviews',
        });
      }
      if (task.goal === 'Book a hotel' && task.step === 1) {
        return next({ type: 'ask_human', question: 'Which city?', options: ['Rome', 'Oslo'] });
      }
      if (task.goal === 'Book a hotel') {
        return done(task.inbox.map((item) => item.type === 'answer' && item.answer?.value));
      }
      return done(task.address === '1' ? resultsOf(task) : 'Reviews are good');
    }, { emit: createEmit({ sinks: [(event) => observed.push(event)], now: Date.now }) });
    const suspended = await planner.run(request, me);
    expect(suspended).toMatchObject({
      state: 'suspended',
      questions: [{ question: 'Which city?', agent: '1-1', options: ['Rome', 'Oslo'] }],
    });
    expect(steps).toEqual(['1#1', '1-1#1', '1-2#1']); // its sibling went on
    expect(observed.map(({ action }) => action)).toContain('plan.ask.opened');
    if (suspended.state !== 'suspended') return;
    const { planId, questions: [question] } = suspended;
    const reply = { askId: question?.ask ?? '', answer: 'Oslo' };
    expect(await planner.reply(planId, me, reply)).toBe('accepted');
    expect(await planner.outcome(planId, me)).toMatchObject({
      state: 'done',
      result: { book: ['Oslo'], read: 'Reviews are good' },
    });
    expect(steps).toEqual(['1#1', '1-1#1', '1-2#1', '1-1#2', '1#2']); // nothing before the question ran again
    expect(observed.every(({ traceId }) => traceId === request.traceId)).toBe(true);
  });
});
