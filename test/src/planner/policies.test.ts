import { describe, expect, it } from 'vitest';
import type { ActionInput, RunAgent, StepOutcome, WaitForInput } from '../../../src/planner/index.ts';
import { PinnaceError } from '../../../src/index.ts';
import { toFailure } from '../../../src/planner/failure.ts';
import { done, eventsOf, me, next, resultsOf, steps, testClock, testPlanner, typesOf } from '../../fixtures/plan.ts';

const overloaded = new PinnaceError('rate_limited', 'Too many', { retryAfterMs: 5000 });

/** A first agent that makes these children, and children that fail when their goal says so. */
function family(children: readonly ActionInput[], wait?: WaitForInput): RunAgent {
  return async (task): Promise<StepOutcome> => {
    if (task.address === '1' && task.step === 1) return { type: 'next', actions: children, ...(wait && { wait }) };
    if (task.address === '1') return done(resultsOf(task));
    await Promise.resolve();
    if (task.goal === 'fail') throw new PinnaceError('not_found', 'There is nothing');
    if (task.goal === 'slow') await new Promise((resolve) => setTimeout(resolve, 5));
    return done(task.goal);
  };
}

function child(key: string, goal: string, more: object = {}): ActionInput {
  return { type: 'create', key, goal, ...more };
}

describe('the failure of a child', () => {
  it('that may pass is tried again with growing pauses, which are timers on record', async () => {
    const clock = testClock();
    let attempts = 0;
    const runAgent: RunAgent = async (task) => {
      if (task.address !== '1') {
        expect(task.attempt).toBe(++attempts);
        expect(task.idempotencyKey).toBe(`${task.planId}:1-1#1`);
        if (attempts < 4) throw attempts === 3 ? overloaded : new PinnaceError('unavailable', 'Away');
        return done('at last');
      }
      return task.step === 1
        ? next(child('a', 'g', { retry: { attempts: 4, backoffMs: 1000 } }))
        : done(resultsOf(task));
    };
    const { planner } = testPlanner(runAgent, { now: clock.now, limits: { lingerMs: 0 } });
    const { planId } = await planner.run({ goal: 'g' }, me);
    const pauses: number[] = [];
    for (
      let outcome = await planner.outcome(planId, me);
      outcome.state === 'suspended';
      outcome = await planner.outcome(planId, me)
    ) {
      pauses.push((outcome.dueAt ?? 0) - clock.now());
      clock.advance(pauses.at(-1) ?? 0);
      await planner.sweep();
    }
    expect(pauses).toEqual([1000, 2000, 5000]);
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'done', result: { a: 'at last' } });
    expect(typesOf(await eventsOf(planner, planId)).filter((type) => type.startsWith('timer.'))).toHaveLength(6);
  });

  it('says whether and when to try again', () => {
    const table: readonly [unknown, string, boolean][] = [
      [{ status: 408 }, 'deadline_exceeded', true],
      [{ statusCode: 425 }, 'unavailable', true],
      [{ statusCode: 429, retryAfterMs: 10 }, 'rate_limited', true],
      [{ status: 500 }, 'unavailable', true],
      [{ status: 503 }, 'unavailable', true],
      [{ status: 400 }, 'invalid_argument', false],
      [{ status: 401 }, 'unavailable', false],
      [{ status: 403 }, 'forbidden', false],
      [{ status: 404 }, 'not_found', false],
      [{ status: 409 }, 'conflict', false],
      [{ status: 422 }, 'invalid_argument', false],
      [new TypeError('fetch failed'), 'unavailable', true],
      [new DOMException('late', 'TimeoutError'), 'deadline_exceeded', true],
      [new DOMException('stopped', 'AbortError'), 'cancelled', false],
      [
        new PinnaceError('unavailable', 'Quota', { retryable: false, details: { reason: 'insufficient_quota' } }),
        'unavailable',
        false,
      ],
      [new Error('sk-SECRET'), 'internal', false],
      ['sk-SECRET', 'internal', false],
      [undefined, 'internal', false],
    ];
    for (const [error, code, retryable] of table) {
      const failure = toFailure(error);
      expect(failure).toMatchObject({ code, retryable });
      expect(failure.message).not.toContain('SECRET');
    }
    expect(toFailure({ statusCode: 429, retryAfterMs: 10 })).toMatchObject({ retryAfterMs: 10 });
  });
});

describe('a wait', () => {
  it('for all receives every result, in the order of creation', async () => {
    const { planner } = testPlanner(family([child('a', 'slow'), child('b', 'ok'), child('c', 'fail')]));
    const outcome = await planner.run({ goal: 'g' }, me);
    expect(JSON.stringify(outcome.state === 'done' && outcome.result)).toBe('{"a":"slow","b":"ok","c":"not_found"}');
  });

  it('for any goes on with the first success, and for race with the first end', async () => {
    const children = [child('a', 'fail'), child('b', 'ok'), child('c', 'wait')];
    for (const mode of ['any', 'race'] as const) {
      const inner = family(children, { mode });
      const { planner } = testPlanner(async (task, context) =>
        task.goal === 'wait' ? await new Promise(() => undefined) : await inner(task, context)
      );
      const outcome = await planner.run({ goal: 'g', maxParallelism: mode === 'any' ? 3 : 1 }, me);
      expect(outcome).toMatchObject({
        state: 'done',
        result: mode === 'any' ? { a: 'not_found', b: 'ok' } : { a: 'not_found' },
      });
    }
  });

  it('for any that all fail goes on all the same', async () => {
    const { planner } = testPlanner(family([child('a', 'fail'), child('b', 'fail')], { mode: 'any' }));
    expect(await planner.run({ goal: 'g' }, me)).toMatchObject({ result: { a: 'not_found', b: 'not_found' } });
  });

  it('for children by name leaves out the others', async () => {
    const inner = family([child('a', 'ok'), child('b', 'wait')], { mode: 'all', of: ['a'] });
    const { planner } = testPlanner(async (task, context) =>
      task.goal === 'wait' ? await new Promise(() => undefined) : await inner(task, context)
    );
    expect(await planner.run({ goal: 'g' }, me)).toMatchObject({ state: 'done', result: { a: 'ok' } });
  });

  it('ends with its timeout, and the agent receives it', async () => {
    const clock = testClock();
    const runAgent: RunAgent = async (task) => {
      if (task.address !== '1') return await new Promise(() => undefined);
      if (task.step === 1) {
        return { type: 'next', actions: [child('a', 'wait')], wait: { mode: 'all', timeoutMs: 1000 } };
      }
      return done(task.inbox.map((item) => item.type));
    };
    const { planner } = testPlanner(runAgent, { now: clock.now });
    const { planId } = await planner.start({ goal: 'g' }, me);
    await expect.poll(() => planner.events(planId, me)).toHaveLength(4);
    clock.advance(1000);
    await planner.sweep();
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'done', result: ['outcome', 'timeout'] });
  });

  it('that no agent can end is detected, and fails the waiting one', async () => {
    const { planner } = testPlanner(async (task) =>
      task.address === '1'
        ? task.step === 1 ? next(child('a', 'g')) : done(resultsOf(task))
        : { type: 'next', wait: { mode: 'message' } }
    );
    expect(await planner.run({ goal: 'g' }, me)).toMatchObject({ state: 'done', result: { a: 'conflict' } });
  });
});

describe('messages', () => {
  it('reach children, siblings and the parent, which answers while it waits', async () => {
    const runAgent: RunAgent = async (task) => {
      const messages = task.inbox.filter((item) => item.type === 'message');
      if (task.goal === 'asks' && task.step === 1) {
        return next({ type: 'send', to: 'parent', body: 'Which?', expectReply: true });
      }
      if (task.goal === 'asks') return done(messages.map(({ body, replyTo }) => [body.value, replyTo !== undefined]));
      if (task.goal === 'tells') {
        return task.step === 1 ? next({ type: 'send', to: 'parent', body: 'Hello' }) : done('told');
      }
      if (task.step === 1) return next(child('a', 'asks'), child('b', 'tells'));
      const questions = messages.filter(({ expectsReply }) => expectsReply);
      if (questions.length > 0) {
        return next(
          ...questions.map(({ id, from }): ActionInput => ({ type: 'send', to: from, body: 'This one', replyTo: id })),
        );
      }
      return Object.keys(resultsOf(task)).length > 0 ? done(resultsOf(task)) : next();
    };
    const { planner } = testPlanner(runAgent);
    const outcome = await planner.run({ goal: 'g' }, me);
    expect(outcome).toMatchObject({ state: 'done', result: { a: [['This one', true]] } });
  });

  it('to unreachable agents are refused', async () => {
    const { planner } = testPlanner(steps(
      () => next({ type: 'send', to: 'nobody', body: 1 }, { type: 'send', to: 'parent', body: 1 }),
      ({ inbox }) => done(inbox.map((item) => item.type === 'outcome' && !item.ok && item.error.code)),
    ));
    expect(await planner.run({ goal: 'g' }, me)).toMatchObject({ result: ['not_found', 'not_found'] });
  });
});

describe('an agent without progress', () => {
  it('first receives a notice, then a person is asked, then it fails', async () => {
    const told: string[] = [];
    const { planner } = testPlanner(async (task) => {
      if (task.call) return { type: 'output', output: 'nothing' };
      told.push(...task.inbox.map(({ type }) => type).filter((type) => type === 'stall' || type === 'answer'));
      return next({ type: 'call', tool: 'look', input: { at: 'x' }, effect: 'pure' });
    });
    const suspended = await planner.run({ goal: 'g', allowHumanIntervention: true }, me);
    if (suspended.state !== 'suspended') throw new Error(suspended.state);
    expect(suspended.questions[0]?.question).toContain('without progress');
    expect(told).toEqual(['stall']);
    await planner.reply(suspended.planId, me, { askId: suspended.questions[0]?.ask ?? '', answer: 'Look elsewhere' });
    expect(await planner.outcome(suspended.planId, me)).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'stalled' } },
    });
    expect(told.slice(0, 3)).toEqual(['stall', 'stall', 'answer']);
  });
});

describe('a plan that is revised', () => {
  it('drops children that it no longer needs, which fails no agent', async () => {
    const { planner } = testPlanner(async (task) => {
      if (task.goal === 'wait') return await new Promise(() => undefined);
      if (task.depth > 0) return done('ok');
      if (task.step === 1) {
        return {
          type: 'next',
          actions: [child('a', 'wait', { onFailure: 'fail' }), child('b', 'ok')],
          wait: { mode: 'race' },
        };
      }
      if (task.step === 2) {
        return next({ type: 'plan_revise', outline: ['b is enough'], facts: ['b is there'], drop: ['a'] });
      }
      return done(task.inbox.map((item) => item.type));
    });
    const outcome = await planner.run({ goal: 'g' }, me);
    expect(outcome).toMatchObject({ state: 'done' });
    const events = (await eventsOf(planner, outcome.planId)).map(({ event }) => event);
    expect(events.find(({ type }) => type === 'plan.revised')).toMatchObject({
      agent: '1',
      rev: 1,
      facts: ['b is there'],
    });
    expect(events.find(({ type }) => type === 'agent.cancelled')).toMatchObject({ id: '1-1', reason: 'dropped' });
  });

  it('returns the same child for the same key', async () => {
    const { planner } = testPlanner(steps(
      () => next(child('a', 'x'), child('a', 'x')),
      ({ inbox }) => done(inbox.map((item) => item.type === 'outcome' && item.ok && item.output.value)),
    ));
    const outcome = await planner.run({ goal: 'g', maxDepth: 1 }, me);
    expect(outcome).toMatchObject({ result: [{ address: '1-1' }, { address: '1-1', existed: true }, false] });
  });

  it('refuses a known key for another goal as idempotency_key_reused', async () => {
    const { planner } = testPlanner(steps(
      () => next(child('a', 'x'), child('a', 'y')),
      ({ inbox }) => done(inbox.map((item) => item.type === 'outcome' && (item.ok ? item.output.value : item.error))),
    ));
    const outcome = await planner.run({ goal: 'g', maxDepth: 1 }, me);
    const refused = { code: 'conflict', details: { reason: 'idempotency_key_reused' } };
    expect(outcome).toMatchObject({ result: [{ address: '1-1' }, refused, expect.anything()] });
  });
});
