import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner, type Planner } from '../../../src/index.ts';
import type { OnTimeout, PlanOutcome, RunAgent } from '../../../src/planner/index.ts';
import { answerInterruption } from '../../../src/permission/interruption.ts';
import { createPrincipal } from '../../../src/base/principal.ts';
import { done, eventsOf, me, next, resultsOf, steps, testClock, testPlanner, typesOf } from '../../fixtures/plan.ts';
import { losingStorage, repeatingStorage } from '../../fixtures/repeating-storage.ts';

const dayMs = 86_400_000;
const request = { goal: 'Ask', allowHumanIntervention: true };

/** Asks each of the questions at once, and gives the answers in the order in which they came. */
function asking(
  ...questions: readonly {
    question: string;
    options?: string[];
    schema?: object;
    timeoutMs?: number;
    onTimeout?: OnTimeout;
  }[]
): RunAgent {
  return steps(
    () =>
      next(
        ...questions.map((question) => ({
          type: 'ask_human' as const,
          ...question,
          schema: question.schema as Record<string, unknown>,
        })),
      ),
    ({ inbox }) => done(inbox.map((item) => item.type === 'answer' ? item.answer?.value ?? 'nobody' : item.type)),
  );
}

async function suspend(planner: Planner, more: object = {}): Promise<PlanOutcome & { state: 'suspended' }> {
  const outcome = await planner.run({ ...request, ...more }, me);
  if (outcome.state !== 'suspended') throw new Error(`It is ${outcome.state}`);
  return outcome;
}

const askId = (outcome: PlanOutcome & { state: 'suspended' }, i = 0): string => outcome.questions[i]?.ask ?? '';

describe('a question to a person', () => {
  it('is answered a week later on another instance', async () => {
    const clock = testClock();
    const runAgent = asking({ question: 'Go on?' });
    const { planner, storage } = testPlanner(runAgent, { now: clock.now });
    const suspended = await suspend(planner);
    await planner.close();
    clock.advance(7 * dayMs);
    const other = createPlanner({ storage, runAgent, now: clock.now });
    expect(await other.reply(suspended.planId, me, { askId: askId(suspended), answer: 'yes' })).toBe('accepted');
    expect(await other.outcome(suspended.planId, me)).toMatchObject({ state: 'done', result: ['yes'] });
  });

  it('stops the clock of a plan that wants it so, as long as any question is open', async () => {
    const clock = testClock();
    const deadlines: unknown[] = [];
    const runAgent: RunAgent = async ({ address, step, deadlineAt, inbox }) => {
      deadlines.push((deadlineAt ?? 0) - clock.now());
      if (address !== '1') return step === 1 ? next({ type: 'ask_human', question: address }) : done(inbox.length);
      return step === 1 ? next({ type: 'create', goal: 'a' }, { type: 'create', goal: 'b' }) : done('both');
    };
    const { planner, storage } = testPlanner(runAgent, { now: clock.now });
    const suspended = await suspend(planner, { timeout: 1000, pauseClockOnAsk: true });
    const startedAt = clock.now();
    expect(suspended.dueAt).toBeGreaterThanOrEqual(startedAt + 30 * dayMs);
    clock.advance(dayMs);
    expect(await planner.sweep()).toBe(0);
    await planner.reply(suspended.planId, me, { askId: askId(suspended), answer: 'one' });
    expect(await planner.outcome(suspended.planId, me)).toMatchObject({ state: 'suspended' });
    await planner.close();
    clock.advance(dayMs);
    const other = createPlanner({ storage, runAgent, now: clock.now });
    await other.reply(suspended.planId, me, { askId: askId(suspended, 1), answer: 'two' });
    expect(await other.outcome(suspended.planId, me)).toMatchObject({ state: 'done', result: 'both' });
    expect((await other.view(suspended.planId, me)).deadlineAt).toBe(startedAt + 2 * dayMs + 1000);
    const [first, ...rest] = deadlines;
    expect([first, rest.at(-1)]).toEqual([1000, 1000]);
  });

  it('lets the clock go on with the answer, and never stops that of the operator', async () => {
    const clock = testClock();
    const runAgent = steps(
      () => next({ type: 'ask_human', question: 'Go on?', timeoutMs: 50 * dayMs }),
      () => next({ type: 'call', tool: 'wait', input: {}, effect: 'pure' }),
    );
    const never = new Promise<never>(() => undefined);
    const waits: RunAgent = async (task, context) => await (task.call ? never : runAgent(task, context));
    const timeout = { state: 'failed', error: { details: { reason: 'plan_timeout' } } };
    const { planner } = testPlanner(waits, { now: clock.now });
    const suspended = await suspend(planner, { timeout: 1000, pauseClockOnAsk: true });
    clock.advance(dayMs);
    await planner.reply(suspended.planId, me, { askId: askId(suspended), answer: 'yes' });
    clock.advance(1000);
    await planner.sweep();
    expect(await planner.outcome(suspended.planId, me)).toMatchObject(timeout);

    const unanswered = await suspend(planner, { timeout: 1000, pauseClockOnAsk: true });
    clock.advance(30 * dayMs);
    expect(await planner.sweep()).toBe(1);
    expect(await planner.outcome(unanswered.planId, me)).toMatchObject(timeout);
  });

  it('stays open after an answer that breaks its schema', async () => {
    const { planner } = testPlanner(asking({ question: 'How many?', schema: { type: 'integer', minimum: 1 } }));
    const { planId, ...rest } = await suspend(planner);
    const id = askId({ planId, ...rest });
    for (const answer of ['many', 0, null, 1.5]) {
      await expect(planner.reply(planId, me, { askId: id, answer })).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    }
    expect(await planner.questions(planId, me)).toHaveLength(1);
    expect(await planner.reply(planId, me, { askId: id, answer: 3 })).toBe('accepted');
    expect(await planner.outcome(planId, me)).toMatchObject({ result: [3] });
  });

  it('takes one of its options only, and a text where it says nothing', async () => {
    const { planner } = testPlanner(asking({ question: 'Which?', options: ['a', 'b'] }, { question: 'Why?' }));
    const suspended = await suspend(planner);
    const { planId } = suspended;
    await expect(planner.reply(planId, me, { askId: askId(suspended), answer: 'c' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await expect(planner.reply(planId, me, { askId: askId(suspended, 1), answer: 7 })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('counts the first answer: the same again is replayed, another is refused', async () => {
    const { planner } = testPlanner(asking({ question: 'A?' }, { question: 'B?' }));
    const suspended = await suspend(planner);
    const { planId } = suspended;
    const first = { askId: askId(suspended), answer: 'yes' };
    const both = await Promise.all([planner.reply(planId, me, first), planner.reply(planId, me, first)]);
    expect(both.toSorted()).toEqual(['accepted', 'replayed']);
    await expect(planner.reply(planId, me, { ...first, answer: 'no' })).rejects.toMatchObject({
      code: 'already_decided',
      status: 409,
    });
    await planner.reply(planId, me, { askId: askId(suspended, 1), answer: 'b' });
    expect(await planner.outcome(planId, me)).toMatchObject({ result: ['yes', 'b'] });
    expect(await planner.reply(planId, me, first)).toBe('replayed');
  });

  it.each([
    ['repeats a commit whose answer was lost', repeatingStorage],
    ['fails after a commit was done', losingStorage],
  ])('reports its first answer as accepted where the storage %s', async (_name, broken) => {
    const { planner, storage } = testPlanner(asking({ question: 'A?' }));
    const suspended = await suspend(planner);
    await planner.close();
    const answer = (value: string) =>
      answerInterruption(createPrincipal(me), { runId: suspended.planId, id: askId(suspended) }, {
        storage: broken(storage),
        now: Date.now(),
        ttlMs: dayMs,
        answer: value,
        changes: [],
      });
    expect(await answer('yes')).toBe('accepted');
    expect(await answer('yes')).toBe('replayed');
    await expect(answer('no')).rejects.toMatchObject({ code: 'already_decided' });
  });

  it('accepts no other answer: a forged one, one of another tenant or one without the scope changes nothing', async () => {
    const { planner } = testPlanner(asking({ question: 'A?' }));
    const suspended = await suspend(planner);
    const { planId } = suspended;
    const reply = { askId: askId(suspended), answer: 'yes' };
    const stranger = createPrincipal({ ...me, tenant: 'other' });
    const powerless = createPrincipal({ ...me, scopes: ['run:create'] });
    await expect(planner.reply(planId, stranger, reply)).rejects.toMatchObject({ code: 'not_found' });
    await expect(planner.reply(planId, powerless, reply)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(planner.reply(planId, me, { ...reply, askId: `${planId}.2` })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(planner.reply('plan_0', me, reply)).rejects.toMatchObject({ code: 'not_found' });
    const other = await suspend(planner);
    await expect(planner.reply(planId, me, { ...reply, askId: askId(other) })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'suspended' });
  });

  const late: readonly [OnTimeout, object][] = [
    ['fail', { state: 'failed', error: { code: 'deadline_exceeded', details: { reason: 'human_timeout' } } }],
    ['continue', { state: 'done', result: ['nobody'] }],
    [{ default: 'no' }, { state: 'done', result: ['no'] }],
  ];
  for (const [onTimeout, expected] of late) {
    it(`that times out has the outcome of its policy: ${JSON.stringify(onTimeout)}`, async () => {
      const clock = testClock();
      const { planner } = testPlanner(asking({ question: 'A?', timeoutMs: dayMs, onTimeout }), { now: clock.now });
      const suspended = await suspend(planner);
      const { planId } = suspended;
      expect(suspended.dueAt).toBe(clock.now() + dayMs);
      expect(await planner.sweep()).toBe(0);
      clock.advance(dayMs);
      await expect(planner.reply(planId, me, { askId: askId(suspended), answer: 'yes' })).rejects.toMatchObject({
        status: 410,
      });
      expect(await planner.sweep()).toBe(1);
      expect(await planner.outcome(planId, me)).toMatchObject(expected);
      await expect(planner.reply(planId, me, { askId: askId(suspended), answer: 'yes' })).rejects.toMatchObject({
        status: 410,
      });
    });
  }

  it('and a cancel at once leave one end, and no answer that is lost without a word', async () => {
    for (let i = 0; i < 8; i++) {
      const { planner } = testPlanner(asking({ question: 'A?' }));
      const suspended = await suspend(planner);
      const { planId } = suspended;
      const both = [
        () => planner.reply(planId, me, { askId: askId(suspended), answer: 'yes' }),
        () => planner.cancel(planId, me),
      ];
      await Promise.all((i % 2 === 0 ? both : both.toReversed()).map((act) => act()));
      const outcome = await planner.outcome(planId, me);
      expect(['done', 'cancelled']).toContain(outcome.state);
      const types = typesOf(await eventsOf(planner, planId));
      expect(types.filter((type) => type.startsWith('run.'))).toEqual(['run.created', `run.${outcome.state}`]);
    }
  });

  it('whose plan has ended takes no answer any more', async () => {
    const { planner } = testPlanner(asking({ question: 'A?' }));
    const suspended = await suspend(planner);
    await planner.cancel(suspended.planId, me);
    expect(await planner.outcome(suspended.planId, me)).toMatchObject({ state: 'cancelled', reason: 'requested' });
    const reply = planner.reply(suspended.planId, me, { askId: askId(suspended), answer: 'yes' });
    await expect(reply).rejects.toMatchObject({ code: 'conflict', details: { reason: 'question_closed' } });
    expect(await planner.questions(suspended.planId, me)).toEqual([]);
  });

  it('is refused in plans without people, and the agent receives the refusal', async () => {
    const runAgent = steps(
      () =>
        next({ type: 'ask_human', question: 'A?' }, {
          type: 'call',
          tool: 'send_mail',
          input: {},
          approval: 'Send it?',
        }),
      ({ inbox }) => done(inbox.map((item) => item.type === 'outcome' && !item.ok && item.error.details?.['reason'])),
    );
    const { planner } = testPlanner(runAgent);
    const outcome = await planner.run({ goal: 'Ask' }, me);
    expect(outcome).toMatchObject({ state: 'done', result: ['human_required', 'human_required'] });
  });
});

describe('the approval of a sub-agent’s call', () => {
  const calls: unknown[] = [];
  const runAgent: RunAgent = async (task) => {
    if (task.call) {
      calls.push(task.call);
      return { type: 'output', output: 'sent' };
    }
    if (task.address === '1' && task.step === 1) return next({ type: 'create', goal: 'Write a mail', key: 'mail' });
    if (task.step === 1) {
      return next({
        type: 'call',
        callId: 'c1',
        tool: 'send_mail',
        input: { to: 'ann' },
        approval: 'Call send_mail\nto: "ann"',
      });
    }
    if (task.address === '1') return done(resultsOf(task));
    return done(task.inbox.map((item) => item.type === 'outcome' && (item.ok ? item.output.value : item.error.code)));
  };

  it('bubbles up with the address, and the call is made when a person approves', async () => {
    calls.length = 0;
    const { planner } = testPlanner(runAgent);
    const suspended = await suspend(planner);
    expect(suspended.questions).toMatchObject([{
      kind: 'approval',
      agent: '1-1',
      callId: 'c1',
      question: 'Call send_mail\nto: "ann"',
    }]);
    expect(calls).toEqual([]);
    const { planId } = suspended;
    await expect(planner.reply(planId, me, { askId: askId(suspended), answer: 'yes' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await planner.reply(planId, me, { askId: askId(suspended), answer: { approved: true } });
    expect(await planner.outcome(planId, me)).toMatchObject({ result: { mail: ['sent'] } });
    expect(calls).toEqual([{ callId: 'c1', tool: 'send_mail', input: { to: 'ann' }, approved: true }]);
  });

  it('is refused: the call is not made, and the agent receives the refusal', async () => {
    calls.length = 0;
    const { planner } = testPlanner(runAgent, { storage: memoryStorage() });
    const suspended = await suspend(planner);
    await planner.reply(suspended.planId, me, { askId: askId(suspended), answer: { approved: false, reason: 'No' } });
    expect(await planner.outcome(suspended.planId, me)).toMatchObject({ result: { mail: ['forbidden'] } });
    expect(calls).toEqual([]);
  });
});
