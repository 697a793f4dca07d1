import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { InboxDecision, InboxItem } from '../../../src/runtime/index.ts';
import { createRules, type RuleInput } from '../../../src/permission/index.ts';
import { outcomeOf, people, person, type Stage, stageOf } from '../../fixtures/persons/stage.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';

const { owner: ada, approver: cleo, other: bo, admin: boss, stranger } = people;

const asking = (terms: Partial<RuleInput>) =>
  createRules([{ effect: 'ask', actions: ['tool.call'], resources: ['tool:delete_note'], ...terms }], {
    otherwise: 'allow',
  });

const decisionOn = ({ id, seen }: InboxItem, more: Partial<InboxDecision> = {}): InboxDecision => ({
  id,
  seen,
  approved: true,
  ...more,
});

async function itemsOf({ runtime }: Stage, who = ada): Promise<readonly InboxItem[]> {
  return (await runtime.inbox.list(who)).items;
}

/** Results as codes and reasons. */
async function outcomesOf(stage: Stage, decisions: readonly InboxDecision[], who = ada): Promise<readonly string[]> {
  const results = await stage.runtime.inbox.decide(decisions, who);
  return results.map((one) =>
    one.state === 'stored' ? 'ok' : `${one.error.code} ${String(one.error.details?.['reason'])}`
  );
}

describe('the inbox', () => {
  it('lists what waits, the oldest first, and shows its facts', async () => {
    const stage = stageOf();
    await stage.ran('Delete n1', ada);
    await stage.ran('Delete n1', ada, { id: 'c2', store: true });
    const { items, waiting } = await stage.runtime.inbox.list(ada);
    expect([waiting, items.map(({ chatId, goesOn }) => [chatId, goesOn])]).toEqual([2, [['c1', false], [
      'c2',
      true,
    ]]]);
    expect(items[0]).toMatchObject({
      kind: 'approval',
      title: 'Call delete_note',
      toolId: 'delete_note',
      agentId: 'helper',
      subject: 'ada',
    });
    const detail = await stage.runtime.inbox.get(items[0]!.id, ada);
    expect(detail).toMatchObject({ ...items[0], facts: { fields: [{ key: '"noteId"', value: '"n1"' }] } });
    const [first] = (await stage.runtime.inbox.list(ada, { limit: 1 })).items;
    const page = await stage.runtime.inbox.list(ada, { limit: 1 });
    const rest = await stage.runtime.inbox.list(ada, { limit: 1, pageToken: page.nextPageToken });
    expect([first?.id, ...rest.items.map(({ id }) => id)]).toEqual(items.map(({ id }) => id));
    expect(rest.nextPageToken).toBeUndefined();
  });

  it('takes 200 questions of one person, and refuses the next', async () => {
    const stage = stageOf();
    for (let i = 0; i < 200; i++) await stage.ran('Delete n1', ada, { id: `chat-${i}` });
    expect((await stage.runtime.inbox.list(ada)).waiting).toBe(200);
    const { chunks } = await stage.ran('Delete n1', ada, { id: 'one-more' });
    expect(JSON.stringify(chunks)).toContain('too_many_waiting');
    expect((await stage.runtime.inbox.list(ada)).waiting).toBe(200);
    expect((await stage.ran('Delete n1', bo, { id: 'of-another' })).approvalId).not.toBe('');
  });

  it('selects by kind, agent, tool and time', async () => {
    const stage = stageOf();
    await stage.ran('Delete n1', ada);
    const count = async (query: object) => (await stage.runtime.inbox.list(ada, query)).waiting;
    expect(await count({ kind: 'approval', agentId: 'helper', toolId: 'delete_note' })).toBe(1);
    for (const query of [{ kind: 'question' }, { agentId: 'x' }, { toolId: 'x' }, { before: 1 }]) {
      expect(await count(query), JSON.stringify(query)).toBe(0);
    }
  });

  it('shows an item to its owner, its approvers and administrators, and to nobody else', async () => {
    const stage = stageOf({ authorize: asking({ approvers: ['subject:cleo', 'role:finance'] }) });
    await stage.ran('Delete n1', ada);
    const seenBy = async (who: typeof ada) => (await itemsOf(stage, who)).map(({ blocked = 'decides' }) => blocked);
    expect(await seenBy(ada)).toEqual(['not_an_approver']);
    expect(await seenBy(cleo)).toEqual(['decides']);
    expect(await seenBy(person('fay', { roles: ['finance'] }))).toEqual(['decides']);
    for (const who of [bo, stranger, boss, people.limited]) expect(await seenBy(who)).toEqual([]);
    expect((await stage.runtime.inbox.list(boss, { of: 'tenant' })).items).toHaveLength(1);
    expect(await outcomeOf(stage.runtime.inbox.list(ada, { of: 'tenant' }))).toBe('forbidden scope_missing');
    const [item] = await itemsOf(stage, cleo);
    for (
      const [who, outcome] of [[ada, 'ok'], [cleo, 'ok'], [boss, 'ok'], [bo, 'not_found approval_not_found'], [
        stranger,
        'not_found approval_not_found',
      ]] as const
    ) {
      expect(await outcomeOf(stage.runtime.inbox.get(item!.id, who))).toBe(outcome);
    }
  });

  it('blocks the person who has asked where another must decide', async () => {
    const stage = stageOf({ authorize: asking({ fourEyes: true }) });
    const [ann, ben] = [person('group:1', { actor: 'ann' }), person('group:1', { actor: 'ben' })];
    await stage.ran('Delete n1', ann, { store: true });
    const [item] = await itemsOf(stage, ann);
    expect(item?.blocked).toBe('own_request');
    expect(await outcomesOf(stage, [decisionOn(item!)], ann)).toEqual(['forbidden own_request']);
    expect((await itemsOf(stage, ben))[0]?.blocked).toBeUndefined();
    expect(await outcomesOf(stage, [decisionOn(item!)], ben)).toEqual(['ok']);
  });

  it('refuses what was not shown, not found, decided, too late, or another person’s, each for itself', async () => {
    let time = 1_000_000;
    const stage = stageOf({ now: () => time, authorize: asking({ withinMs: 60_000 }) });
    const asked = [await stage.ran('Delete n1', ada), await stage.ran('Delete n1', ada, { id: 'c2' })];
    const [one, two] = await itemsOf(stage);
    expect(one!.expiresAt - one!.openedAt).toBe(60_000);
    expect(await outcomesOf(stage, [decisionOn(one!)], bo)).toEqual(['not_found approval_not_found']);
    expect(
      await outcomesOf(stage, [
        decisionOn(one!, { seen: 'forged' }),
        decisionOn(one!, { id: 'apr_unknown' }),
        decisionOn(one!),
        decisionOn(two!, { seen: one!.seen, approved: false }), // equal facts have one digest
      ]),
    ).toEqual(['conflict facts_changed', 'not_found approval_not_found', 'ok', 'ok']);
    expect(await outcomesOf(stage, [decisionOn(one!)])).toEqual(['already_decided approval_decided']);
    expect(await itemsOf(stage)).toEqual([]);
    await stage.ran('Delete n1', ada, { id: 'c3' });
    const [three] = await itemsOf(stage);
    time += 60_000;
    expect(await itemsOf(stage)).toEqual([]);
    expect(await outcomesOf(stage, [decisionOn(three!)])).toEqual(['approval_expired approval_expired']);
    expect(await outcomeOf(stage.runtime.inbox.decide([], ada))).toBe('invalid_argument invalid_data');
    expect(asked.map(({ approvalId }) => approvalId).toSorted()).toEqual([one!.id, two!.id].toSorted());
  });

  it('answers 40 deciders of 10 items with one winner each', async () => {
    const stage = stageOf({ authorize: asking({ approvers: ['role:finance'] }) });
    for (let i = 0; i < 10; i++) await stage.ran('Delete n1', ada, { id: `c${i}` });
    const deciders = Array.from({ length: 40 }, (_, i) => person(`p${i}`, { roles: ['finance'] }));
    const items = await itemsOf(stage, deciders[0]);
    const outcomes = await Promise.all(
      deciders.map((who) => outcomesOf(stage, items.map((one) => decisionOn(one)), who)),
    );
    for (const at of items.keys()) {
      const ofItem = outcomes.map((one) => one[at]);
      expect(ofItem.filter((one) => one === 'ok')).toHaveLength(1);
      expect(new Set(ofItem)).toEqual(new Set(['ok', 'already_decided approval_decided']));
    }
  });

  it('answers a question of a plan, and the plan goes on', async () => {
    const stage = stageOf();
    const terms = { goal: 'Delete n1', agentId: 'helper', allowHumanIntervention: true };
    const { planId } = await stage.runtime.planner.start(terms, ada);
    await stage.runtime.planner.outcome(planId, ada);
    const [item] = await itemsOf(stage);
    expect(item).toMatchObject({ kind: 'approval', title: 'Call delete_note', runId: planId, goesOn: true });
    expect(await stage.runtime.inbox.decide([decisionOn(item!)], ada)).toEqual([
      { id: item!.id, state: 'stored', runId: planId },
    ]);
    await stage.runtime.planner.outcome(planId, ada);
    expect([stage.deleted, await itemsOf(stage)]).toEqual([['n1 ada'], []]);
  });

  it('forgets the items of a deleted chat', async () => {
    const stage = stageOf();
    await stage.ran('Delete n1', ada, { store: true });
    const [item] = await itemsOf(stage);
    await stage.runtime.chats.delete('c1', ada);
    expect(await itemsOf(stage)).toEqual([]);
    expect(await outcomesOf(stage, [decisionOn(item!)])).toEqual(['not_found approval_not_found']);
  });

  it('lets 200 questions of one person wait, and refuses the next call', async () => {
    const storage = memoryStorage();
    const stage = stageOf({ storage });
    await stage.ran('Delete n1', ada);
    const [{ key, value }] = (await storage.list({ prefix: ['waiting', 't1', 'owner:ada'], limit: 1 })) as [never];
    await Promise.all(Array.from({ length: 199 }, (_, i) => {
      return storage.commit([{ key: [...(key as string[]).slice(0, -1), `apr_${i}`], value }]);
    }));
    const { chunks, approvalId } = await stage.ran('Delete n1', ada, { id: 'c2' });
    expect(approvalId).toBe('');
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-error', toolCallId: 'call-0' }));
    expect((await stage.ran('Delete n1', bo, { id: 'c3' })).approvalId).not.toBe(''); // others are not concerned
  });

  it('costs an approval at most one commit more than before', async () => {
    const memory = memoryStorage();
    let [commits, lists] = [0, 0];
    const storage = {
      ...memory,
      commit: (...given: Parameters<typeof memory.commit>) => (commits++, memory.commit(...given)),
      list: (...given: Parameters<typeof memory.list>) => (lists++, memory.list(...given)),
    };
    const stage = stageOf({ storage });
    await stage.ran('Delete n1', ada, { store: true });
    await stage.runtime.close({ drainMs: 5000 });
    expect(commits).toBeLessThanOrEqual(5); // it was 4
    expect(lists).toBeLessThanOrEqual(5); // one of them counts what waits
  });

  it('decides on records that an earlier version has written, and does not list them', async () => {
    const storage = memoryStorage();
    const stage = stageOf({ storage });
    const { approvalId, runId } = await stage.ran('Delete n1', ada);
    const key = ['interruption', approvalId];
    const { openedAt: _, facts: __, goesOn: ___, ...earlier } = (await storage.get(key))!.value as Record<
      string,
      unknown
    >;
    const entries = (await Promise.all(['waiting', 'asks'].map((first) => storage.list({ prefix: [first], limit: 9 }))))
      .flat();
    await storage.commit([{ key, value: earlier }, ...entries.map((entry) => ({ key: entry.key }))]);
    expect(await itemsOf(stage)).toEqual([]);
    await stage.runtime.decide(runId, approvalId, { approved: true }, ada);
    expect(await outcomeOf(stage.runtime.decide(runId, approvalId, { approved: true }, ada))).toBe(
      'already_decided approval_decided',
    );
  });

  it('streams a snapshot, then what is opened and settled', async () => {
    const stage = stageOf();
    await stage.ran('Delete n1', ada);
    const stop = new AbortController();
    const stream = await stage.runtime.inbox.watch(ada, { signal: stop.signal });
    const reader = stream.getReader();
    const [item] = await itemsOf(stage);
    expect((await reader.read()).value).toEqual({ type: 'snapshot', items: [item] });
    const { approvalId } = await stage.ran('Delete n1', ada, { id: 'c2' });
    expect((await reader.read()).value).toMatchObject({ type: 'opened', item: { id: approvalId } });
    await stage.runtime.inbox.decide([decisionOn(item!)], ada);
    expect((await reader.read()).value).toEqual({ type: 'settled', id: item!.id });
    stop.abort();
    expect((await reader.read()).done).toBe(true);
    expect(await outcomeOf(stage.runtime.inbox.watch(person('x', { scopes: [] })))).toBe('forbidden scope_missing');
  });

  it('streams that an item has expired, also of a chat that its client stores', async () => {
    let time = 1_000_000;
    const storage = memoryStorage({ now: () => time });
    const stage = stageOf({ storage, now: () => time });
    const { approvalId } = await stage.ran('Delete n1', ada);
    const reader = (await stage.runtime.inbox.watch(ada)).getReader();
    expect((await reader.read()).value?.type).toBe('snapshot');
    time += 86_400_001;
    expect(await stage.runtime.sweep()).toBe(0);
    expect((await reader.read()).value).toEqual({ type: 'settled', id: approvalId });
    expect(await storage.list({ prefix: ['due'], limit: 9 })).toEqual([]);
    expect(await outcomeOf(stage.runtime.inbox.get(approvalId, ada))).toBe('approval_expired approval_expired');
    await reader.cancel();
  });
});

describe('a stored chat', () => {
  const wait = async (stage: Stage, runId: string | undefined) => {
    for await (const _ of await stage.runtime.resume(runId ?? '', 0, { principal: ada }));
  };

  it('goes on by the server once nothing of its run waits', async () => {
    const stage = stageOf();
    const { runId } = await stage.ran('Delete n1', ada, { store: true });
    const [item] = await itemsOf(stage);
    const [result] = await stage.runtime.inbox.decide([decisionOn(item!)], ada);
    expect(result).toMatchObject({ state: 'stored', runId: expect.stringMatching(/^run_/) });
    const next = result?.state === 'stored' ? result.runId : undefined;
    expect(next).not.toBe(runId);
    await wait(stage, next);
    expect(stage.deleted).toEqual(['n1 ada']);
    const { messages } = await stage.runtime.chats.get('c1', ada);
    expect(messages.at(-1)?.parts.map(({ type }) => type)).toContain('text');
    expect(messages).toHaveLength(2);
  });

  it('tells the model that a person has denied the call', async () => {
    const stage = stageOf();
    await stage.ran('Delete n1', ada, { store: true });
    const [item] = await itemsOf(stage);
    const [result] = await stage.runtime.inbox.decide([decisionOn(item!, { approved: false, reason: 'Keep it' })], ada);
    await wait(stage, result?.state === 'stored' ? result.runId : undefined);
    expect([stage.deleted, JSON.stringify(stage.model.calls.at(-1)?.prompt)]).toEqual([
      [],
      expect.stringContaining('Keep it'),
    ]);
  });

  it('does not go on by an approver’s rights, by the old route, without the chat stored, or after another message', async () => {
    const stage = stageOf({ authorize: asking({ approvers: ['subject:cleo'] }) });
    const runs = async () => (await stage.runtime.chats.get('c1', ada)).messages.length;
    const one = await stage.ran('Delete n1', ada, { store: true });
    await stage.runtime.decide(one.runId, one.approvalId, { approved: true }, cleo);
    expect([await runs(), stage.deleted]).toEqual([2, []]);
    await stage.ran('Delete n1', ada, { id: 'c2' });
    const two = (await itemsOf(stage, cleo)).map((item) => decisionOn(item));
    expect((await stage.runtime.inbox.decide(two, cleo))[0]).not.toHaveProperty('runId');
    await stage.ran('Delete n1', ada, { id: 'c3', store: true });
    const three = (await itemsOf(stage, cleo)).map((item) => decisionOn(item));
    await stage.ran('Hello', ada, { id: 'c3', store: true, messages: [userMessage('Hello', 'm9')] });
    expect(await itemsOf(stage, cleo)).toEqual([]); // the question is closed
    expect(await outcomesOf(stage, three, cleo)).toEqual(['conflict question_closed']);
    expect(stage.deleted).toEqual([]);
  });

  it('starts no second run for its key, whoever claims it', async () => {
    const stage = stageOf();
    const { runId } = await stage.ran('Delete n1', ada, { store: true });
    const fingerprint = runId;
    const taken = await stage.runtime.start(runRequest({ chat: { id: 'other', messages: [userMessage('Hi')] } }), ada, {
      idempotency: { key: `continue:${runId}`, fingerprint },
    });
    const [item] = await itemsOf(stage);
    const [result] = await stage.runtime.inbox.decide([decisionOn(item!)], ada);
    expect(result).toMatchObject({ state: 'stored', runId: expect.not.stringMatching(taken.runId) });
  });

  it('goes on when no one has decided in time', async () => {
    let time = 1_000_000;
    const storage = memoryStorage({ now: () => time });
    const stage = stageOf({ storage, now: () => time });
    await stage.ran('Delete n1', ada, { store: true });
    time += 86_400_001;
    expect(await stage.runtime.sweep()).toBe(1);
    await stage.runtime.close({ drainMs: 5000 });
    expect(stage.deleted).toEqual([]);
    expect(JSON.stringify(stage.model.calls.at(-1)?.prompt)).toContain('has expired');
    expect((await storage.list({ prefix: ['due'], limit: 9 })).map(({ key }) => key)).toEqual([]);
  });
});
