import { describe, expect, it } from 'vitest';
import { rehearsal } from '../../../../adapters/models/rehearsal.ts';
import { localPrincipal } from '../../../../src/index.ts';
import { asked, forked, forkRuntime, ran, runIdOf, stepsOf, stepTexts } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();

describe('fork', () => {
  it('is byte-identical at every step when nothing is changed', async () => {
    const { runtime, effects } = forkRuntime({ model: rehearsal({ delayMs: 0 }) });
    const text =
      'call look with {"at":"bow"}, then call act with {"seats":2}, then call fail with {}, then call look with {}';
    const original = await readAll(await runtime.run(asked(text), principal));
    expect(stepsOf(original)).toBe(4);
    for (let step = 1; step <= stepsOf(original); step++) {
      const fork = await readAll(await runtime.fork(runIdOf(original), { atStep: step }, principal));
      expect(lastData(fork, 'data-fork')).toMatchObject({ exact: true, changed: [], effects: 'dry', atStep: step });
      expect(stepTexts(fork, 1)).toEqual(stepTexts(original, 1));
      expect(lastData(fork, 'data-run')['state']).toBe('completed');
    }
    expect(effects).toEqual([{ seats: 2 }]);
  });

  it('forks a fork, also one of many, and shows all that they share', async () => {
    const texts = Array.from({ length: 12 }, (_, i) => says(`Answer ${i}`));
    const { runtime } = forkRuntime({
      model: scriptedModel(callsTools({ tool: 'look', input: { at: 'bow' } }), ...texts).model,
    });
    let { runId, chunks } = await ran(runtime);
    const first = stepTexts(chunks).slice(0, 4);
    for (let depth = 1; depth <= 10; depth++) {
      ({ runId, chunks } = await forked(runtime, runId, { atStep: 2 }));
      expect(textOf(chunks)).toBe(`Answer ${depth}`);
      expect(stepTexts(chunks).slice(0, 4)).toEqual(first);
      expect(await readAll(await runtime.resume(runId, 0, { principal }))).toEqual(chunks);
    }
  });

  it('says exact for a step of the run above, also where the request of the fork is another one', async () => {
    const look = (at: string) => callsTools({ tool: 'look', input: { at }, id: at });
    const { runtime } = forkRuntime({
      model: scriptedModel(look('a'), look('b'), says('1'), look('c'), says('2'), says('3'), says('4')).model,
    });
    const original = await ran(runtime, asked('Look everywhere, and tell me what is to be seen. '.repeat(3)));
    const change = { message: userMessage('Look below the deck as well, please, before you tell me all of it') };
    const second = await forked(runtime, original.runId, { atStep: 3, changes: change });
    const third = await forked(runtime, second.runId, { atStep: 2 });
    expect(lastData(third.chunks, 'data-fork')).toMatchObject({ parent: second.runId, atStep: 2, exact: true });
    const fourth = await forked(runtime, original.runId, { atStep: 1, changes: change });
    expect(lastData(fourth.chunks, 'data-fork')).toMatchObject({ exact: false });
  });

  it('answers calls that may act from the record, once each, and refuses others', async () => {
    const act = (seats: number, id: string) => callsTools({ tool: 'act', input: { seats }, id });
    const { runtime, effects } = forkRuntime({
      model: scriptedModel(act(2, 'a'), says('Booked'), act(2, 'b'), act(2, 'c'), act(9, 'd'), says('Again')).model,
    });
    const { runId } = await ran(runtime);
    const { chunks } = await forked(runtime, runId, { atStep: 1 });
    expect(chunks.filter(({ type }) => type === 'tool-output-available')).toEqual([
      { type: 'tool-output-available', toolCallId: 'b', output: { booked: 1 } },
    ]);
    const refused = chunks.flatMap((chunk) => chunk.type === 'data-tool-error' && 'data' in chunk ? [chunk.data] : []);
    expect(refused).toMatchObject([
      { toolCallId: 'c', code: 'forbidden', details: { reason: 'fork_dry' } },
      { toolCallId: 'd', code: 'forbidden', details: { reason: 'fork_dry' } },
    ]);
    expect(effects).toEqual([{ seats: 2 }]);
  });

  it('acts with live effects, and asks a person as any run', async () => {
    const act = callsTools({ tool: 'act', input: { seats: 2 } });
    const { runtime, effects } = forkRuntime({ model: scriptedModel(act, says('Booked'), act, says('Again')).model });
    const { runId } = await ran(runtime);
    await forked(runtime, runId, { atStep: 1, effects: 'live' });
    expect(effects).toHaveLength(2);
    const asking = forkRuntime({
      model: scriptedModel(act).model,
      authorize: (action) => action === 'tool.call' ? { decision: 'ask', reason: 'Sure?' } : { decision: 'allow' },
    });
    const waiting = await ran(asking.runtime);
    const again = await forked(asking.runtime, waiting.runId, { atStep: 1, effects: 'live' });
    expect(lastData(again.chunks, 'data-run')['state']).toBe('awaiting_approval');
    expect(asking.effects).toEqual([]);
  });

  it('counts what the shared steps have used', async () => {
    const look = callsTools({ tool: 'look', input: {} });
    const { runtime } = forkRuntime({ model: scriptedModel(look, look, look, look, look).model, limits: { steps: 3 } });
    const { runId, chunks } = await ran(runtime);
    expect(stepsOf(chunks)).toBe(3);
    const fork = await forked(runtime, runId, { atStep: 3 });
    expect(stepsOf(fork.chunks)).toBe(3);
    await expect(runtime.fork(runId, { atStep: 4 }, principal)).rejects.toMatchObject({ code: 'budget_exceeded' });
    const { runtime: small } = forkRuntime({ model: scriptedModel(look, look, look).model });
    const budgeted = await ran(small, runRequest({ budget: { tokens: 200 } }));
    expect(lastData(budgeted.chunks, 'data-run')['error']).toMatchObject({ code: 'budget_exceeded' });
    expect(stepsOf(budgeted.chunks)).toBeGreaterThan(2);
    const rest = await forked(small, budgeted.runId, { atStep: 2 });
    expect(stepsOf(rest.chunks)).toBe(stepsOf(budgeted.chunks));
  });

  it('leaves the stored chat of its run as it is, and is not in it', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(says('One'), says('Two'), says('Three')).model });
    const request = runRequest({ chat: { id: 'stored', messages: [userMessage('Count')], store: true } });
    const { runId } = await ran(runtime, request);
    const before = await runtime.chats.get('stored', principal);
    const fork = await forked(runtime, runId, { atStep: 1 });
    expect(textOf(fork.chunks)).toBe('Two');
    const after = await runtime.chats.get('stored', principal);
    expect(after.messages).toEqual(before.messages);
    const { items } = await runtime.chats.list(principal);
    expect(items.map(({ chatId }) => chatId)).toEqual(['stored']);
    expect(await runtime.runs.ofChat(principal, 'stored', { ended: true })).toMatchObject({ runId });
    const next = await ran(
      runtime,
      runRequest({ chat: { id: 'stored', messages: [userMessage('On', 'm2')], store: true } }),
    );
    expect(textOf(next.chunks)).toBe('Three');
  });

  it('lists the forks of a run', async () => {
    const { runtime } = forkRuntime({ model: scriptedModel(says('One')).model });
    const { runId } = await ran(runtime);
    const first = await forked(runtime, runId, { atStep: 1, changes: { message: userMessage('Other', 'm9') } });
    const second = await forked(runtime, runId, { atStep: 1, chatId: 'mine' });
    const page = await runtime.forks(runId, principal, { limit: 1 });
    const rest = await runtime.forks(runId, principal, { limit: 1, pageToken: page.nextPageToken });
    const items = [...page.items, ...rest.items];
    expect(rest.nextPageToken).toBeUndefined();
    expect(items.map((item) => item.runId).toSorted()).toEqual([first.runId, second.runId].toSorted());
    expect(items.find((item) => item.runId === first.runId)).toMatchObject({
      atStep: 1,
      changed: ['message'],
      effects: 'dry',
    });
    expect(items.find((item) => item.runId === second.runId)).toMatchObject({ chatId: 'mine', changed: [] });
    expect(await runtime.runs.ofChat(principal, 'mine', { ended: true })).toMatchObject({ runId: second.runId });
    expect(await runtime.runs.ofChat(principal, 'chat-1', { ended: true })).toMatchObject({ runId });
  });
});
