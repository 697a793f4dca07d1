import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Storage } from '../../../../src/index.ts';
import { outcomeOf, people, person, spending, stageOf } from '../../../fixtures/persons/stage.ts';
import { lastData, readAll, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { person02, storedBy02 } from '../../../fixtures/stored-before.ts';

const { at, answered, decided, open, file, planId } = person02;
const { owner: ada, other: bo, admin: boss } = people;
const day = 86_400_000;

function withoutChecks({ checks: _, ...storage }: Storage): Storage {
  return storage;
}

async function upgraded(storage: Storage = memoryStorage({ now: () => at })) {
  return { storage, ...stageOf({ storage: await storedBy02(storage), now: () => at + 1000 }) };
}

describe('what version 0.2 has stored', () => {
  it('is its owner’s: runs, streams, forks, stored chats and plans', async () => {
    const { runtime } = await upgraded();
    expect(await runtime.runs.status(ada, answered.runId)).toMatchObject({ state: 'completed', subject: 'ada' });
    expect(textOf(await readAll(await runtime.resume(answered.runId, 0, { principal: ada })))).toBe('Answer of 0.2');
    expect((await runtime.recorded(answered.runId, ada)).request.chat.id).toBe('c1');
    expect((await runtime.chats.get('c4', ada)).messages).toHaveLength(2);
    expect(await runtime.planner.outcome(planId, ada)).toMatchObject({ state: 'done', result: 'Answer of 0.2' });
  });

  it('is no one else’s in the tenant, except for administrators', async () => {
    const { runtime } = await upgraded();
    expect(await outcomeOf(runtime.runs.status(bo, answered.runId))).toBe('not_found run_not_found');
    expect(await outcomeOf(runtime.recorded(answered.runId, bo))).toBe('not_found run_not_found');
    expect(await outcomeOf(runtime.planner.view(planId, bo))).toBe('not_found plan_not_found');
    expect(await outcomeOf(runtime.runs.status(boss, answered.runId))).toBe('ok');
  });

  it.each([
    ['checks versions', memoryStorage({ now: () => at })],
    ['cannot check versions', withoutChecks(memoryStorage({ now: () => at }))],
  ])(
    'runs nothing twice when a request is sent again, and shows the run to nobody else: a storage that %s',
    async (_, storage) => {
      const { ran, model, runtime } = await upgraded(storage);
      expect((await ran('Hello', ada, { key: 'k1' })).runId).toBe(answered.runId);
      expect(model.calls).toHaveLength(0);
      expect(await outcomeOf(ran('Other', ada, { key: 'k1' }))).toBe('idempotency_key_reused undefined');
      // The same request of another person may be a retry under a renewed session: it starts nothing, and shows nothing.
      expect(await outcomeOf(ran('Hello', bo, { key: 'k1' }))).toBe('idempotency_key_reused undefined');
      expect(model.calls).toHaveLength(0);
      const his = await ran('Mine', bo, { key: 'k1' });
      expect(his.runId).not.toBe(answered.runId);
      expect((await ran('Mine', bo, { key: 'k1' })).runId).toBe(his.runId);
      expect(await runtime.runs.find(person('eve', { tenant: 't2' }), { key: 'k1', fingerprint: 'x' })).toBeUndefined();
    },
  );

  it('has its plan under its key', async () => {
    const { runtime: { planner } } = await upgraded();
    const again = await planner.start({ goal: 'Sum', agentId: 'helper' }, ada, { idempotencyKey: 'p1' });
    expect(again.planId).toBe(planId);
    const request = { goal: 'Sum', agentId: 'helper' };
    expect(await outcomeOf(planner.start(request, bo, { idempotencyKey: 'p1' }))).toBe(
      'idempotency_key_reused undefined',
    );
    const his = await planner.start({ ...request, goal: 'Mine' }, bo, { idempotencyKey: 'p1' });
    expect(his.planId).not.toBe(planId);
    await planner.outcome(his.planId, bo);
  });

  it('has the last run of a chat, for its owner alone', async () => {
    const { runtime } = await upgraded();
    expect(await runtime.runs.ofChat(ada, 'c1', { ended: true })).toMatchObject({ runId: answered.runId });
    for (const who of [bo, boss]) expect(await runtime.runs.ofChat(who, 'c1', { ended: true })).toBeUndefined();
  });

  it('has approvals: the owner decides and spends them, and the call is made once', async () => {
    const { runtime, deleted } = await upgraded();
    const tried = await readAll(await runtime.run(spending(decided, 'c2'), bo));
    expect(lastData(tried, 'data-tool-error')).toMatchObject({ details: { reason: 'approval_not_found' } });
    await readAll(await runtime.run(spending(decided, 'c2'), ada));
    expect(deleted).toEqual(['n1 ada']);
    expect(await outcomeOf(runtime.decide(open.runId, open.approvalId, { approved: true }, bo)))
      .toBe('not_found approval_not_found');
    await runtime.decide(open.runId, open.approvalId, { approved: true }, ada);
    await readAll(await runtime.run(spending(open, 'c3'), ada));
    expect(deleted).toEqual(['n1 ada', 'n1 ada']);
    await readAll(await runtime.run(spending(open, 'c3'), ada));
    expect(deleted).toHaveLength(2);
  });

  it('has approvals that an altered call, another chat or another agent does not spend', async () => {
    const { runtime, deleted } = await upgraded();
    const moved = await readAll(await runtime.run(spending(decided, 'c9'), ada));
    expect(lastData(moved, 'data-tool-error')).toMatchObject({ details: { reason: 'approval_moved' } });
    expect(deleted).toEqual([]);
  });

  it('has files, which stay readable in the tenant by their hash until they expire, and are not renewed there', async () => {
    let now = at;
    const storage = await storedBy02(memoryStorage({ now: () => now }));
    const { runtime } = stageOf({ storage, now: () => now });
    expect(new TextDecoder().decode((await runtime.blobs.get(file, ada)).bytes)).toBe('a note of 0.2');
    expect(await storage.get(['blob', 't1', 'ada', file])).toBeDefined();
    expect(await storage.get(['blob', 't1', 'bo', file])).toBeUndefined();
    now += 20 * day;
    await runtime.blobs.get(file, ada);
    expect((await storage.get(['blob', 't1', file]))?.value).toMatchObject({ expiresAt: at + 30 * day });
    await runtime.blobs.delete(file, boss, { subject: 'ada' });
    expect(await outcomeOf(runtime.blobs.get(file, ada))).toBe('not_found attachment_missing');
  });

  it('goes on in its stored chat', async () => {
    const { runtime, ran } = await upgraded();
    const { chunks } = await ran('Next', ada, { id: 'c4', store: true, messages: [userMessage('Next', 'm5')] });
    expect(textOf(chunks)).toContain('Next');
    await expect.poll(async () => (await runtime.chats.get('c4', ada)).messages.length).toBe(4);
  });
});
