import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import type { StepOf, ThinkRequest } from '../../../src/contracts/steps.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const calls: unknown[] = [];
const toolOf = (id: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool =>
  defineTool({
    description: `Does ${id}`,
    ...more,
    id,
    input: v.strictObject({ n: v.number() }),
    execute: (input) => (calls.push(input), { done: id }),
  });
const tools = [
  toolOf('look', { annotations: { readOnlyHint: true } }),
  toolOf('put', { annotations: { idempotentHint: true } }),
  toolOf('fire', { approval: 'always' }),
];

const { tenant, subject, agents, scopes } = localPrincipal();
const step = (more: Partial<StepOf> = {}): StepOf => ({
  agentId: 'helper',
  owner: { tenant, subject, agents, scopes },
  taskId: 'plan-1',
  traceId: 'a'.repeat(32),
  signal: new AbortController().signal,
  ...more,
});
const create = { name: 'create', description: 'Creates', paramsSchema: { type: 'object' } };
const thought = (more: Partial<ThinkRequest> = {}): ThinkRequest => ({
  ...step(),
  history: undefined,
  inputs: [{ type: 'text', text: 'Go' }],
  instructions: 'You plan.',
  primitives: [create],
  ...more,
});
const failedFinish = { ...says().at(-1)!, finishReason: { unified: 'error' as const, raw: 'error' } } as ReturnType<
  typeof says
>[number];
const runtimeWith = (...scripts: ReturnType<typeof says>[]) => {
  const scripted = scriptedModel(...scripts);
  return { ...scripted, runtime: testRuntime({ model: scripted.model, tools, agent: { instructions: 'Be kind.' } }) };
};

describe("an agent's steps", () => {
  it.each([
    ['is cut before its finish', says('Half of').slice(0, -1), { reason: 'provider_stream_cut' }],
    ['finishes with an error', [...says('Half of').slice(0, -1), failedFinish], undefined],
  ])('think: an answer that %s is none', async (_, script, details) => {
    const { runtime } = runtimeWith(script);
    const failed = { code: 'unavailable', retryable: true, ...(details && { details }) };
    await expect(runtime.steps.think(thought())).rejects.toMatchObject(failed);
  });

  it('think: the model is called once, and its calls are given, not made', async () => {
    const { runtime, calls: prompts } = runtimeWith(
      callsTools(
        { tool: 'create', input: { goal: 'x' }, id: '1' },
        { tool: 'look', input: { n: 1 }, id: '2' },
        { tool: 'put', input: { n: 2 }, id: '3' },
        { tool: 'fire', input: { n: 3 }, id: '4' },
        { tool: 'nothing', input: {}, id: '5' },
        { tool: 'look', input: '{', id: '6' },
      ),
    );
    const { text, calls: asked, tokens } = await runtime.steps.think(thought());
    expect([text, tokens, calls]).toEqual(['', 15, []]);
    expect(asked).toEqual([
      { callId: '1', name: 'create', input: { goal: 'x' }, kind: 'primitive' },
      { callId: '2', name: 'look', input: { n: 1 }, kind: 'tool', effect: 'pure' },
      { callId: '3', name: 'put', input: { n: 2 }, kind: 'tool', effect: 'idempotent' },
      {
        callId: '4',
        name: 'fire',
        input: { n: 3 },
        kind: 'tool',
        effect: 'unsafe',
        approval: 'Call fire\n"n": 3',
        about: { title: 'Call fire', toolId: 'fire' },
        edit: { input: { n: 3 }, schema: expect.objectContaining({ type: 'object' }) },
      },
      {
        callId: '5',
        name: 'nothing',
        input: {},
        kind: 'refused',
        error: expect.objectContaining({ code: 'not_found' }),
      },
      {
        callId: '6',
        name: 'look',
        input: {},
        kind: 'refused',
        error: expect.objectContaining({ code: 'invalid_argument' }),
      },
    ]);
    expect(prompts[0]?.tools?.map(({ name }) => name)).toEqual(['create', 'fire', 'look', 'put']);
    expect(prompts[0]?.prompt[0]).toMatchObject({ role: 'system', content: 'You plan.\n\nBe kind.' });
  });

  it('think again: reasoning and its metadata are returned to the model, as reasoning models need it', async () => {
    const [start, call, finish] = callsTools({ tool: 'look', input: { n: 1 }, id: 'a' });
    const signature = { anthropic: { signature: 'signed' } };
    const { runtime, calls: prompts } = runtimeWith([
      start!,
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'I look' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signature },
      { type: 'reasoning-end', id: 'r' },
      { ...call, providerMetadata: { google: { thoughtSignature: 'call' } } } as typeof start & object,
      finish!,
    ], says('All done'));
    const { history } = await runtime.steps.think(thought());
    await runtime.steps.think(thought({ history: JSON.parse(JSON.stringify(history)) }));
    expect(prompts[1]?.prompt.slice(2, 4)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'I look', providerOptions: signature },
          { type: 'tool-call', toolCallId: 'a', providerOptions: { google: { thoughtSignature: 'call' } } },
        ],
      },
      { role: 'tool', content: [{ toolCallId: 'a', providerOptions: { google: { thoughtSignature: 'call' } } }] },
    ]);
  });

  it('think again: a history that an earlier version has written is read', async () => {
    const { runtime, calls: prompts } = runtimeWith(says('All done'));
    const part = { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { n: 1 } };
    const history = [{ role: 'user', content: 'Go' }, { role: 'assistant', content: [part] }];
    await runtime.steps.think(thought({ history, inputs: [] }));
    expect(prompts[0]?.prompt.slice(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it.each(['length', 'content-filter'] as const)(
    'think: the calls of an answer that ended for %s are not made',
    async (unified) => {
      const script = callsTools({ tool: 'look', input: { n: 1 } });
      const { runtime } = runtimeWith(
        script.map((part) => part.type === 'finish' ? { ...part, finishReason: { unified, raw: unified } } : part),
      );
      await expect(runtime.steps.think(thought())).rejects.toMatchObject({
        code: 'budget_exceeded',
        details: { reason: 'answer_incomplete' },
      });
    },
  );

  it.each([
    ['may not run the agent', step({ owner: { tenant, subject, agents: [], scopes } }), 'forbidden'],
    ['has not the scope', step({ owner: { tenant, subject, agents, scopes: ['run:read'] } }), 'forbidden'],
    ['names no agent', step({ agentId: 'nobody' }), 'not_found'],
    ['has left', step({ signal: AbortSignal.abort() }), 'cancelled'],
  ])('reject when the owner %s', async (_, of, code) => {
    const { runtime } = runtimeWith(says('Hi'));
    await expect(runtime.steps.think({ ...thought(), ...of })).rejects.toMatchObject({ code });
  });
});
