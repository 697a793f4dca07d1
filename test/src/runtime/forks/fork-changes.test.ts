import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRuntime, type LanguageModel, localPrincipal } from '../../../../src/index.ts';
import { asked, forked, forkRuntime, forkTools, ran } from '../../../fixtures/forks/forks.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, textOf, userMessage } from '../../../fixtures/runtime.ts';

const principal = localPrincipal();
const look = callsTools({ tool: 'look', input: { at: 'bow' } });

/** A runtime whose agent can be changed, with two models. */
function changing() {
  const models = { main: scriptedModel(look, says('Main')), other: scriptedModel(says('Other')) };
  const agent = { id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['*'], instructions: 'Be brief' };
  const { tools } = forkTools();
  const storage = memoryStorage();
  const compose = (changes: Partial<typeof agent> = {}) =>
    createRuntime({
      catalog: staticCatalog({
        agents: [{ ...agent, ...changes }],
        providers: [{ id: 'main', kind: 'custom' }, { id: 'other', kind: 'custom' }],
      }),
      models: { model: ({ id }) => id === 'other' ? models.other.model : models.main.model },
      storage,
      tools,
      keep: 'inputs',
    });
  return { models, compose };
}

const promptOf = ({ calls }: { readonly calls: readonly Parameters<LanguageModel['doStream']>[0][] }, at = -1) =>
  calls.at(at)?.prompt;

describe('changes of a fork', () => {
  it('takes another model, without what only the first one can read', async () => {
    const { models, compose } = changing();
    const runtime = compose();
    const { runId } = await ran(runtime, asked('Go'));
    const { chunks } = await forked(runtime, runId, {
      atStep: 2,
      changes: { model: { providerId: 'other', modelId: 'x' } },
    });
    expect(textOf(chunks)).toBe('Other');
    expect(lastData(chunks, 'data-fork')).toMatchObject({ changed: ['model'], exact: false });
    expect(promptOf(models.other)).toEqual(promptOf(models.main));
  });

  it('replaces instructions and model settings', async () => {
    const { models, compose } = changing();
    const runtime = compose();
    const { runId } = await ran(runtime, asked('Go'));
    const changes = { instructions: 'Be long', modelSettings: { temperature: 0.2 } };
    await forked(runtime, runId, { atStep: 2, changes });
    expect(promptOf(models.main)?.[0]).toEqual({ role: 'system', content: 'Be long' });
    expect(models.main.calls.at(-1)?.temperature).toBe(0.2);
  });

  it.each([
    ['nothing', { atStep: 2 }, []],
    ['nothing, from its start', { atStep: 1 }, []],
    ['a message', { atStep: 1, changes: { message: userMessage('Go back') } }, ['edit']],
    ['an output', { atStep: 2, changes: { toolOutputs: { 'call-0': 1 } } }, ['edit']],
    ['instructions', { atStep: 2, changes: { instructions: 'Be long' } }, ['instructions']],
    ['the model', { atStep: 2, changes: { model: { providerId: 'other' } } }, ['provider']],
  ])('announces what it changes of the prompt that was sent: %s', async (_, options, breaks) => {
    const runtime = changing().compose();
    const { runId } = await ran(runtime, asked('Go'));
    const { chunks } = await forked(runtime, runId, options);
    const reasons = JSON.stringify(lastData(chunks, 'data-usage')).matchAll(/"reason":"(\w+)"/g);
    expect([...reasons].map(([, reason]) => reason)).toEqual(breaks);
  });

  it('runs the recorded agent, or with a change the current one, and only tools that it still has', async () => {
    const { models, compose } = changing();
    const { runId } = await ran(compose(), asked('Go'));
    const later = compose({ instructions: 'Be kind', entryTools: ['look'] });
    const recorded = await forked(later, runId, { atStep: 2 });
    expect(promptOf(models.main)?.[0]).toEqual({ role: 'system', content: 'Be brief' });
    expect(models.main.calls.at(-1)?.tools?.map(({ name }) => name)).toEqual(['look']);
    expect(lastData(recorded.chunks, 'data-fork')).toMatchObject({ exact: true });
    const current = await forked(later, runId, { atStep: 2, changes: { agent: 'current' } });
    expect(promptOf(models.main)?.[0]).toEqual({ role: 'system', content: 'Be kind' });
    expect(lastData(current.chunks, 'data-fork')).toMatchObject({ changed: ['agent'], exact: false });
  });

  it('never gets tools that only the agent of today has', async () => {
    const { models, compose } = changing();
    const { runId } = await ran(compose({ entryTools: ['look'] }), asked('Go'));
    await forked(compose(), runId, { atStep: 1 });
    expect(models.main.calls.at(-1)?.tools?.map(({ name }) => name)).toEqual(['look']);
  });

  it('inserts a message before a later step, and shows it', async () => {
    const { models, compose } = changing();
    const runtime = compose();
    const { runId } = await ran(runtime, asked('Go'));
    const { chunks } = await forked(runtime, runId, {
      atStep: 2,
      changes: { message: userMessage('In metric units', 'm9') },
    });
    expect(promptOf(models.main)?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
    const shown = chunks.findIndex(({ type }) => type === 'steering-message');
    expect(chunks[shown]).toEqual({
      type: 'steering-message',
      id: 'm9',
      parts: [{ type: 'text', text: 'In metric units' }],
    });
    expect(chunks[shown + 1]?.type).toBe('start-step');
    expect(await readAll(await runtime.resume(String(lastData(chunks, 'data-run')['runId']), 0, { principal })))
      .toEqual(chunks);
  });

  it('replaces the output of an earlier call, for the model and for readers, also in a fork of the fork', async () => {
    const { models, compose } = changing();
    const runtime = compose();
    const { runId } = await ran(runtime, asked('Go'));
    const fork = await forked(runtime, runId, {
      atStep: 2,
      changes: { toolOutputs: { 'call-0': { seen: 'a storm' } } },
    });
    const output = { type: 'json', value: { seen: 'a storm' } };
    expect(promptOf(models.main)?.at(-1)).toMatchObject({ role: 'tool', content: [{ toolCallId: 'call-0', output }] });
    expect(fork.chunks.findLast(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { seen: 'a storm' },
    });
    await forked(runtime, fork.runId, { atStep: 2 });
    expect(promptOf(models.main)?.at(-1)).toMatchObject({ role: 'tool', content: [{ toolCallId: 'call-0', output }] });
    expect(
      await runtime.fork(runId, { atStep: 1, changes: { toolOutputs: { 'call-0': 1 } } }, principal).catch((
        e: unknown,
      ) => e),
    )
      .toMatchObject({ code: 'invalid_argument', details: { reason: 'no_such_call' } });
  });

  it('gives the model what a run that continued after an approval had said', async () => {
    const act = callsTools({ tool: 'act', input: { seats: 2 }, id: 'a1' });
    const scripted = scriptedModel(act, look, says('Done'));
    let isAsked = true;
    const { runtime, effects } = forkRuntime({
      model: scripted.model,
      authorize: (action, _principal, { id }) =>
        action === 'tool.call' && id === 'act' && isAsked
          ? { decision: 'ask', reason: 'Sure?' }
          : { decision: 'allow' },
    });
    const first = await ran(runtime, asked('Book'));
    const request = first.chunks.find((chunk) => chunk.type === 'tool-approval-request');
    const approvalId = request?.type === 'tool-approval-request' ? request.approvalId : '';
    await runtime.decide(first.runId, approvalId, { approved: true }, principal);
    const part = {
      type: 'tool-act',
      toolCallId: 'a1',
      state: 'approval-responded',
      input: { seats: 2 },
      approval: { id: approvalId, approved: true },
    };
    const messages = [userMessage('Book'), { id: 'm2', role: 'assistant', parts: [{ type: 'step-start' }, part] }];
    isAsked = false;
    const second = await ran(runtime, { agentId: 'helper', chat: { id: 'chat-1', messages: messages as never } });
    expect(effects).toHaveLength(1);
    const calls = scripted.calls.length;
    for (const step of [1, 2]) {
      const fork = await forked(runtime, second.runId, { atStep: step });
      expect(lastData(fork.chunks, 'data-fork')).toMatchObject({ exact: true });
      expect(fork.chunks[0]).toEqual({ type: 'start', messageId: 'm2' });
    }
    expect(scripted.calls.length).toBeGreaterThan(calls);
    expect(effects).toHaveLength(1);
  });
});
