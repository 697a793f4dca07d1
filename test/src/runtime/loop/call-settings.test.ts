import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { type AgentInput, defineTool, localPrincipal } from '../../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

type Settings = NonNullable<AgentInput['modelSettings']>;

const tools = ['add', 'multiply'].map((id) =>
  defineTool({ id, description: id, annotations: { readOnlyHint: true }, input: v.looseObject({}), execute: () => 3 })
);
const calls = (...names: readonly string[]) =>
  callsTools(...names.map((tool, i) => ({ tool, input: {}, id: `c${i}` })));

async function run(script: ScriptedModel, modelSettings: Settings, entryTools: readonly string[] = ['*']) {
  const runtime = testRuntime({ model: script.model, tools, agent: { modelSettings, entryTools: [...entryTools] } });
  return await readAll(await runtime.run(runRequest(), localPrincipal()));
}

describe('modelSettings', () => {
  it.each([
    ['authorization', 'x'],
    ['Proxy-Authorization', 'x'],
    ['cookie', 'x'],
    ['X-Api-Key', 'x'],
    ['api-key', 'x'],
    ['x-goog-api-key', 'x'],
    ['x-auth-token', 'x'],
    ['x-client-secret', 'x'],
    ['x-team', 'Bearer abc'],
    ['host', 'example.com'],
    ['x-team', 'a\r\nb'],
  ])('refuse the header %s: %j, and do not repeat its value', (name, value) => {
    const agent = { id: 'a', name: 'A', providerId: 'p', modelSettings: { headers: { [name]: value } } };
    let thrown: unknown;
    try {
      staticCatalog({ agents: [agent], providers: [] });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'invalid_argument' });
    expect(String(thrown)).toContain(`modelSettings.headers.${name}`);
    expect(JSON.stringify(thrown)).not.toContain('Bearer abc');
  });

  it('name the field of the secret where a header holds a credential', () => {
    const agent = { id: 'a', name: 'A', providerId: 'p', modelSettings: { headers: { authorization: 'x' } } };
    expect(() => staticCatalog({ agents: [agent], providers: [] })).toThrow('name it in the "secret" of the provider');
  });
});

describe('toolChoice', () => {
  const violated = { state: 'failed', error: { code: 'unavailable', details: { reason: 'tool_choice' } } };
  const multiply = { type: 'tool', toolName: 'multiply' } as const;

  it.each(
    [
      ['none', calls('add')],
      ['required', says('3')],
      [multiply, says('3')],
      [multiply, calls('add')],
      [multiply, calls('multiply', 'add')],
    ] as const,
  )('fails the run when the model ignores %j', async (toolChoice, script) => {
    expect(lastData(await run(scriptedModel(script), { toolChoice }), 'data-run')).toMatchObject(violated);
  });

  it.each([['none', says('3')], ['auto', calls('add')]] as const)('is satisfied: %j', async (toolChoice, script) => {
    const chunks = await run(scriptedModel(script, says('3')), { toolChoice });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });

  it('is not the fault of the model when its answer is cut off at the limit of tokens', async () => {
    const cut = says('3').map((part) =>
      part.type === 'finish' ? { ...part, finishReason: { unified: 'length', raw: 'length' } as const } : part
    );
    const chunks = await run(scriptedModel(cut), { toolChoice: 'required' });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });

  it('is refused before the model is called when the run has no such tool', async () => {
    for (const toolChoice of ['required', multiply] as const) {
      const script = scriptedModel(says('3'));
      const chunks = await run(script, { toolChoice }, []);
      expect(lastData(chunks, 'data-run')).toMatchObject({
        error: { code: 'invalid_argument', details: { reason: 'tool_choice' } },
      });
      expect(script.calls).toEqual([]);
    }
  });

  it('does not hold for a run that goes on after an approval', async () => {
    const write = defineTool({
      id: 'write',
      description: 'Writes',
      approval: 'always',
      input: v.object({}),
      execute: () => 1,
    });
    const script = scriptedModel(calls('write'), says('Done'));
    const agent = { modelSettings: { toolChoice: 'required' } } as const;
    const runtime = testRuntime({ model: script.model, tools: [write], agent });
    const first = await readAll(await runtime.run(runRequest(), localPrincipal()));
    const asked = first.find((chunk) => chunk.type === 'tool-approval-request');
    if (asked?.type !== 'tool-approval-request') throw new Error('No approval was requested');
    const { runId } = lastData(first, 'data-run') as { runId: string };
    await runtime.decide(runId, asked.approvalId, { approved: true }, localPrincipal());
    const { chat } = runRequest();
    const answer = {
      id: 'a1',
      role: 'assistant' as const,
      parts: [{
        type: 'tool-write' as const,
        toolCallId: 'c0',
        state: 'approval-responded' as const,
        input: {},
        approval: { id: asked.approvalId, approved: true },
      }],
    };
    const next = runRequest({ chat: { ...chat, messages: [...chat.messages, answer] } });
    const chunks = await readAll(await runtime.run(next, localPrincipal()));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(script.calls[1]?.toolChoice).toEqual({ type: 'auto' });
  });
});
