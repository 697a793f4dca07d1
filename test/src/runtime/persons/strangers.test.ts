import { describe, expect, it } from 'vitest';
import { signedEndpoint } from '../../../fixtures/signed-endpoint.ts';
import { outcomeOf, people, spending, stageOf } from '../../../fixtures/persons/stage.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';

const { owner: ada, other: bo, admin: boss } = people;
const noRun = 'not_found run_not_found';

/** Ada's run that never ends, in a stored chat. */
async function waiting(stage = stageOf()) {
  const request = runRequest({ chat: { id: 'c1', messages: [userMessage('Wait for it')], store: true } });
  const { runId, ended } = await stage.runtime.start(request, ada, {});
  return { ...stage, runId, ended };
}

describe('another person of the tenant', () => {
  it('follows no stream of a chat, and finds no run under way in it', async () => {
    const { runtime, runId } = await waiting();
    expect(await outcomeOf(runtime.chats.get('c1', bo))).toBe('not_found chat_unknown');
    expect(await runtime.runs.ofChat(bo, 'c1')).toBeUndefined();
    expect(await runtime.runs.ofChat(ada, 'c1')).toMatchObject({ runId, subject: 'ada' });
    await runtime.cancel(runId, ada);
  });

  it('reads no run whose id it knows: no state, no stream, no replay', async () => {
    const { runtime, ran } = stageOf();
    const { runId } = await ran('Private', ada);
    expect(await outcomeOf(runtime.runs.status(bo, runId))).toBe(noRun);
    expect(await outcomeOf(runtime.runs.cursor(bo, runId, 0))).toBe(noRun);
    expect(await outcomeOf(runtime.resume(runId, 0, { principal: bo }))).toBe(noRun);
    expect(await outcomeOf(runtime.runs.answer(bo, runId))).toBe(noRun);
  });

  it('sends no message to a run, and its model receives none', async () => {
    const { runtime, runId, model } = await waiting();
    expect(await outcomeOf(runtime.send(runId, { id: 'x', parts: [{ type: 'text', text: 'Delete n1' }] }, bo))).toBe(
      noRun,
    );
    await runtime.cancel(runId, ada);
    expect(JSON.stringify(model.calls.map(({ prompt }) => prompt))).not.toContain('Delete');
  });

  it('decides on no approval, and spends none, whether or not it was decided', async () => {
    const { runtime, ran, deleted } = stageOf();
    const asked = await ran('Delete n1', ada);
    expect(await outcomeOf(runtime.decide(asked.runId, asked.approvalId, { approved: true }, bo)))
      .toBe('not_found approval_not_found');
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, ada);
    const tried = await readAll(await runtime.run(spending(asked), bo));
    expect(lastData(tried, 'data-tool-error')).toMatchObject({ details: { reason: 'approval_not_found' } });
    expect(deleted).toEqual([]);
    await readAll(await runtime.run(spending(asked), ada));
    expect(deleted).toEqual(['n1 ada']);
  });

  it('gets no approval by asking, deciding and spending in the same chat with the same call', async () => {
    const { runtime, ran, deleted } = stageOf();
    const [hers, his] = [await ran('Delete n1', ada), await ran('Delete n1', bo)];
    await runtime.decide(his.runId, his.approvalId, { approved: true }, bo);
    const tried = await readAll(await runtime.run(spending(his), ada));
    expect(lastData(tried, 'data-tool-error')).toMatchObject({ details: { reason: 'approval_not_found' } });
    expect(await outcomeOf(runtime.decide(hers.runId, his.approvalId, { approved: true }, bo)))
      .toBe('not_found approval_not_found');
    expect(deleted).toEqual([]);
  });

  it('has a run of its own under the same idempotency key and the same request', async () => {
    const { ran } = stageOf();
    const hers = await ran('Same', ada, { key: 'turn-17-of-chat-c1' });
    const his = await ran('Same', bo, { key: 'turn-17-of-chat-c1' });
    const again = await ran('Same', ada, { key: 'turn-17-of-chat-c1' });
    expect(his.runId).not.toBe(hers.runId);
    expect(again.runId).toBe(hers.runId);
  });

  it('cannot put its run into the chat of another by its id', async () => {
    const { runtime, runId } = await waiting();
    const request = runRequest({ chat: { id: 'c1', messages: [userMessage('Wait, mine')] } });
    const his = await runtime.start(request, bo, {});
    expect((await runtime.runs.ofChat(ada, 'c1'))?.runId).toBe(runId);
    expect((await runtime.runs.ofChat(bo, 'c1'))?.runId).toBe(his.runId);
    await runtime.cancel(runId, ada);
    await runtime.cancel(his.runId, bo);
  });

  it('cancels no run', async () => {
    const { runtime, runId } = await waiting();
    expect(await outcomeOf(runtime.cancel(runId, bo))).toBe(noRun);
    expect(await runtime.runs.status(ada, runId)).toMatchObject({ state: 'running' });
    await runtime.cancel(runId, ada);
  });

  it('forks no run, lists no forks, and reads no recorded inputs', async () => {
    const { runtime, ran, model } = stageOf();
    const { runId } = await ran('My secret question', ada);
    const message = userMessage('What was the question?', 'm9');
    expect(await outcomeOf(runtime.fork(runId, { atStep: 1, changes: { message } }, bo))).toBe(noRun);
    expect(await outcomeOf(runtime.forks(runId, bo))).toBe(noRun);
    expect(await outcomeOf(runtime.recorded(runId, bo))).toBe(noRun);
    expect(model.calls).toHaveLength(1);
  });

  it('reads no file by its hash, and stores the same bytes as its own', async () => {
    const { runtime } = stageOf();
    const bytes = new TextEncoder().encode('private note');
    const { id, url } = await runtime.blobs.put(bytes, 'text/plain', ada);
    expect(await outcomeOf(runtime.blobs.get(id, bo))).toBe('not_found attachment_missing');
    const parts = [{ type: 'file' as const, url, mediaType: 'text/plain' }];
    const request = runRequest({ chat: { id: 'c1', messages: [{ id: 'm1', role: 'user', parts }] } });
    expect(textOf(await readAll(await runtime.run(request, ada)))).toContain('private note');
    expect(lastData(await readAll(await runtime.run(request, bo)), 'data-run')).toMatchObject({
      state: 'failed',
      error: { code: 'not_found', details: { reason: 'attachment_missing' } },
    });
    await runtime.blobs.put(bytes, 'text/plain', bo);
    expect((await runtime.blobs.get(id, bo)).bytes).toEqual(bytes);
  });

  it('starts a plan of its own under the same key, and reaches none of another', async () => {
    const { runtime: { planner } } = stageOf();
    const request = { goal: 'Sum', agentId: 'helper' };
    const hers = await planner.start(request, ada, { idempotencyKey: 'p1' });
    const his = await planner.start(request, bo, { idempotencyKey: 'p1' });
    expect(his.planId).not.toBe(hers.planId);
    expect((await planner.start(request, ada, { idempotencyKey: 'p1' })).planId).toBe(hers.planId);
    for (
      const call of [planner.view(hers.planId, bo), planner.outcome(hers.planId, bo), planner.pause(hers.planId, bo)]
    ) {
      expect(await outcomeOf(call)).toBe('not_found plan_not_found');
    }
    await Promise.all([planner.outcome(hers.planId, ada), planner.outcome(his.planId, bo)]);
  });

  it('gets the same answers over HTTP, whatever id it sends', async () => {
    const { runtime, runId } = await waiting();
    const endpoint = await signedEndpoint(runtime);
    const his = await endpoint.client({ subject: 'bo', tenant: 't1' });
    const hers = await endpoint.client({ subject: 'ada', tenant: 't1' });
    expect(await outcomeOf(his.status(runId))).toBe(noRun);
    expect(await outcomeOf(his.cancel(runId))).toBe(noRun);
    expect(await hers.status(runId)).toMatchObject({ state: 'running', subject: 'ada' });
    await hers.cancel(runId);
  });
});

describe('the permission hook', () => {
  it('is told whose record it is, asked for reads of administrators, and not for those of owners', async () => {
    const asked: string[] = [];
    const stage = stageOf({
      authorize(action, { subject }, resource) {
        if (action !== 'tool.call') asked.push(`${action} ${resource.type} of ${resource.subject} by ${subject}`);
        return subject === 'boss' && action === 'chat.read'
          ? { decision: 'deny', reason: 'Private' }
          : { decision: 'allow' };
      },
    });
    const { runtime, ran } = stage;
    const { runId } = await ran('Hi', ada, { id: 'c1', store: true });
    const { id } = await runtime.blobs.put(new TextEncoder().encode('x'), 'text/plain', ada);
    const { planId } = await runtime.planner.start({ goal: 'Sum', agentId: 'helper' }, ada);
    await runtime.planner.outcome(planId, ada);
    for (const who of [ada, boss]) {
      await runtime.runs.status(who, runId);
      await runtime.blobs.get(id, who, { subject: 'ada' });
      await runtime.planner.view(planId, who);
    }
    await runtime.chats.get('c1', ada);
    expect(await outcomeOf(runtime.chats.get('c1', boss, { subject: 'ada' }))).toBe('forbidden not_authorized');
    expect(await outcomeOf(runtime.chats.list(boss, { subject: 'ada' }))).toBe('forbidden not_authorized');
    await runtime.chats.rename('c1', { title: 'T', version: 1 }, boss, { subject: 'ada' });
    const read = asked.filter((one) => !one.startsWith('plan.agent') && !one.startsWith('planner.'));
    expect(read).toEqual([
      'run.read run of ada by boss',
      'blob.read attachment of ada by boss',
      'plan.read plan of ada by boss',
      'chat.read chat of ada by boss',
      'chat.read chat of ada by boss',
      'chat.rename chat of ada by boss',
    ]);
  });
});
