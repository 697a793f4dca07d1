import { describe, expect, it } from 'vitest';
import { createAudit } from '../../../../src/index.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRules, type RuleInput } from '../../../../src/permission/index.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { outcomeOf, people, person, spending, stageOf } from '../../../fixtures/persons/stage.ts';
import { lastData, readAll } from '../../../fixtures/runtime.ts';

const asking = (terms: Partial<RuleInput>, ...more: readonly Partial<RuleInput>[]) =>
  createRules(
    [terms, ...more].map((one) => ({
      effect: 'ask' as const,
      actions: ['tool.call'],
      resources: ['tool:delete_note'],
      ...one,
    })),
    { otherwise: 'allow' },
  );

const member = (actor: string, more = {}) => person('group:42', { actor, ...more });
const [ann, ben, cy] = [member('ann'), member('ben'), member('cy', { roles: ['finance'] })];
const ownRequest = 'forbidden own_request';

describe('a group of three persons in one chat', () => {
  it('has one owner: each of them follows, steers and continues what another has started', async () => {
    const { runtime, ran } = stageOf();
    const { runId } = await ran('Hello', ann, { store: true });
    for (const who of [ann, ben, cy]) {
      expect(await runtime.runs.status(who, runId)).toMatchObject({ subject: 'group:42' });
      expect((await runtime.chats.get('c1', who)).messages.length).toBeGreaterThan(1);
    }
    expect(await outcomeOf(runtime.runs.status(person('ann'), runId))).toBe('not_found run_not_found');
  });

  it('decides by another member than the one who asked, and the call is made in the name of the one who goes on', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { sink, events } = memorySink();
    const { runtime, ran, deleted } = stageOf({ authorize: asking({ fourEyes: true }), audit, sinks: [sink] });
    const asked = await ran('Delete n1', ann);
    const decide = (who: typeof ann) =>
      outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, who));
    expect(await decide(ann)).toBe(ownRequest);
    expect(await decide(person('group:42'))).toBe(ownRequest); // who speaks is not known
    expect(await decide(person('ann'))).toBe('not_found approval_not_found');
    expect(await decide(person('ann', { scopes: [...ann.scopes, 'admin'] }))).toBe(ownRequest);
    expect(await decide(ben)).toBe('ok');
    expect(await decide(cy)).toBe('already_decided approval_decided');
    await readAll(await runtime.run(spending(asked), cy));
    expect(deleted).toEqual(['n1 cy']);
    const decisions = events.filter(({ action }) => action === 'approval.decide');
    expect(decisions.filter(({ status }) => status === 'ok').map(({ actor }) => actor)).toEqual([
      { type: 'user', id: 'group:42', by: 'ben' },
    ]);
    await runtime.close();
    const { items } = await audit.log('t1').list();
    expect(JSON.stringify(items)).toContain('"by":"ben"');
  });

  it('names members and roles of members as approvers', async () => {
    for (
      const [approvers, may] of [[['actor:ben'], 'ben'], [['role:finance'], 'cy'], [
        ['role:none', 'actor:cy'],
        'cy',
      ]] as const
    ) {
      const { runtime, ran } = stageOf({ authorize: asking({ approvers: [...approvers] }) });
      for (const who of [ann, ben, cy]) {
        const asked = await ran('Delete n1', ann);
        const expected = who.actor === may ? 'ok' : 'forbidden not_an_approver';
        expect(await outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, who))).toBe(expected);
      }
    }
  });
});

describe('four eyes', () => {
  const fourEyes = asking({ fourEyes: true, approvers: ['role:finance'] });
  const clerk = (subject: string, more = {}) => person(subject, { roles: ['finance'], ...more });

  it('lets no person approve what that person has asked for, in whatever role', async () => {
    const { runtime, ran } = stageOf({ authorize: fourEyes });
    const { scopes } = people.admin;
    const asked = await ran('Delete n1', clerk('ada'));
    const decide = (who: typeof ann) =>
      outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, who));
    expect(await decide(clerk('ada'))).toBe(ownRequest);
    expect(await decide(clerk('ada', { scopes }))).toBe(ownRequest);
    expect(await decide(clerk('ada', { actor: 'backend' }))).toBe(ownRequest);
    expect(await decide(clerk('group:42', { actor: 'ada' }))).toBe(ownRequest);
    expect(await decide(person('bo'))).toBe('not_found approval_not_found');
    expect(await decide(clerk('bo', { tenant: 't2' }))).toBe('not_found approval_not_found');
    expect(await decide(clerk('bo', { agents: ['another'] }))).toBe('not_found approval_not_found');
    expect(await decide(clerk('bo'))).toBe('ok');
  });

  it('holds for two persons behind one back end that signs for them', async () => {
    const { runtime, ran } = stageOf({
      authorize: asking({ fourEyes: true, approvers: ['subject:shop:bo', 'subject:shop:ada'] }),
    });
    const of = (subject: string) => person(subject, { actor: 'shop-backend' });
    const asked = await ran('Delete n1', of('shop:ada'));
    const decide = (who: typeof ann) =>
      outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, who));
    expect(await decide(of('shop:ada'))).toBe(ownRequest);
    expect(await decide(of('shop:bo'))).toBe('ok');
  });

  it('gives an approver the question, and not the run, its stream or its chat', async () => {
    const { runtime, ran, deleted } = stageOf({ authorize: fourEyes });
    const asked = await ran('Delete n1', people.owner);
    const bo = clerk('bo');
    expect(await outcomeOf(runtime.runs.status(bo, asked.runId))).toBe('not_found run_not_found');
    expect(await outcomeOf(runtime.resume(asked.runId, 0, { principal: bo }))).toBe('not_found run_not_found');
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, bo);
    await readAll(await runtime.run(spending(asked), bo));
    expect(deleted).toEqual([]);
    await readAll(await runtime.run(spending(asked), people.owner));
    expect(deleted).toEqual(['n1 ada']);
  });

  it('is told in the stream, so that a page shows no button', async () => {
    const { ran } = stageOf({ authorize: fourEyes });
    const { chunks } = await ran('Delete n1', people.owner);
    expect(chunks.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      approvalDescriptor: { approvers: ['role:finance'], fourEyes: true },
    });
  });

  it('holds for a client that decides on its own call', async () => {
    const { runtime, deleted } = stageOf({ authorize: asking({ fourEyes: true }) });
    const { tools, call } = await runtime.tools('helper', people.owner);
    const tool = tools.find(({ definition }) => definition.id === 'delete_note');
    if (!tool) throw new Error('No tool');
    const facts = { toolCallId: 'x', signal: new AbortController().signal, log: () => undefined };
    const outcome = await call(tool, { noteId: 'n1' }, { ...facts, approved: true });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'forbidden', details: { reason: 'own_request' } } });
    expect(deleted).toEqual([]);
  });

  it('holds for the calls of a plan', async () => {
    const { runtime: { planner }, deleted } = stageOf({
      authorize: asking({ fourEyes: true, approvers: ['subject:bo', 'subject:ada'] }),
    });
    const terms = { goal: 'Delete n1', agentId: 'helper', allowHumanIntervention: true };
    const { planId } = await planner.start(terms, people.owner);
    await planner.outcome(planId, people.owner);
    const [ask] = await planner.questions(planId, people.owner);
    const reply = { askId: ask?.ask ?? '', answer: { approved: true } };
    expect(await outcomeOf(planner.reply(planId, people.owner, reply))).toBe(ownRequest);
    expect(await outcomeOf(planner.reply(planId, people.approver, reply))).toBe('not_found plan_not_found');
    expect(await outcomeOf(planner.view(planId, people.other))).toBe('not_found plan_not_found');
    expect(await planner.reply(planId, people.other, reply)).toBe('accepted');
    await planner.outcome(planId, people.owner);
    expect(deleted).toEqual(['n1 ada']);
  });

  it('is fixed when the question is asked: a later rule neither weakens nor moves it', async () => {
    let authorize = fourEyes;
    const { runtime, ran } = stageOf({ authorize: (...given) => authorize(...given) });
    const asked = await ran('Delete n1', clerk('ada'));
    authorize = asking({});
    expect(await outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, clerk('ada')))).toBe(
      ownRequest,
    );
  });
});

describe('rules that ask', () => {
  const approversOf = async (first: Partial<RuleInput>, ...rules: readonly Partial<RuleInput>[]) =>
    await asking(first, ...rules)('tool.call', people.owner, { type: 'tool', id: 'delete_note' }, {});

  it('count all of them in any order: the approvers that each names, and four eyes if one demands it', async () => {
    const [wide, narrow] = [{ approvers: ['role:a', 'subject:b'] }, {
      approvers: ['subject:b'],
      fourEyes: true as const,
    }];
    for (const [one, ...rest] of [[wide, narrow, {}], [{}, narrow, wide], [narrow, {}, wide]] as const) {
      expect(await approversOf(one, ...rest)).toMatchObject({
        decision: 'ask',
        approvers: ['subject:b'],
        fourEyes: true,
      });
    }
    expect(await approversOf({ approvers: ['role:a'] }, { approvers: ['role:b'] })).toMatchObject({ approvers: [] });
  });

  it('are refused with approvers that name nobody, and where they do not ask', () => {
    for (const approvers of [['bo'], ['role:'], ['group:x'], [], Array.from({ length: 6 }, (_, i) => `role:${i}`)]) {
      expect(() => asking({ approvers })).toThrow(/rule 0/);
    }
    expect(() => asking({ effect: 'allow', fourEyes: true })).toThrow('"ask"');
  });

  it('match the owner of a record, and the caller as its owner', async () => {
    const authorize = createRules([
      { effect: 'allow', actions: ['run.*'], resourceSubjects: ['$self'] },
      { effect: 'allow', actions: ['run.read'], resourceSubjects: ['group:*'] },
    ]);
    const asked = async (action: string, subject?: string) => {
      const resource = { type: 'run', id: 'r', ...(subject !== undefined && { subject }) };
      return (await authorize(action, people.owner, resource, {})).decision;
    };
    expect(await asked('run.cancel', 'ada')).toBe('allow');
    expect(await asked('run.cancel', 'bo')).toBe('deny');
    expect(await asked('run.cancel', '$self')).toBe('deny');
    expect(await asked('run.cancel')).toBe('deny');
    expect(await asked('run.read', 'group:42')).toBe('allow');
  });

  it('reads roles from the principal, and from the deprecated function as well', async () => {
    const rules: RuleInput[] = [{ effect: 'allow', actions: ['*'], roles: ['finance'] }];
    const asked = async (authorize: ReturnType<typeof createRules>, who: typeof ann) =>
      (await authorize('x', who, { type: 't', id: 'i' }, {})).decision;
    expect(await asked(createRules(rules), cy)).toBe('allow');
    expect(await asked(createRules(rules), ben)).toBe('deny');
    expect(await asked(createRules(rules, { rolesOf: () => ['finance'] }), ben)).toBe('allow');
  });

  it('deny where a hook names approvers in no way that is known', async () => {
    for (const approvers of [['bo'], 'role:x', [7], Array.from({ length: 6 }, () => 'role:x')]) {
      const answer = { decision: 'ask' as const, reason: 'r', approvers: approvers as string[] };
      const { ran } = stageOf({ authorize: (action) => action === 'tool.call' ? answer : { decision: 'allow' } });
      const { chunks } = await ran('Delete n1', people.owner);
      expect(lastData(chunks, 'data-tool-error')).toMatchObject({ details: { reason: 'permission_check_failed' } });
    }
  });
});
