import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import type { Authorization } from '../../../src/contracts/index.ts';
import {
  type Authorize,
  createGrounding,
  createRegistry,
  defineTool,
  localPrincipal,
  type UIMessage,
} from '../../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';
import { textSource } from '../../../adapters/grounding/text.ts';

const me = localPrincipal();

/** A hook that denies one action, on one resource if it is named, and what it was asked. */
function denying(denied: string, resourceId?: string) {
  const asked: string[] = [];
  const authorize: Authorize = (action, { subject }, { type, id }) => {
    asked.push(`${action} ${type} ${id} for ${subject}`);
    return action === denied && (resourceId ?? id) === id
      ? { decision: 'deny', reason: 'not today' }
      : { decision: 'allow' };
  };
  const { sink, events } = memorySink();
  return { asked, authorize, sinks: [sink], denials: () => events.filter(({ status }) => status === 'denied') };
}

const write = (done: string[], id = 'write') =>
  defineTool({ id, description: 'Writes', input: v.object({}), execute: () => done.push(id) });
const refused = { code: 'forbidden', details: { reason: 'not_authorized' } };

describe('the permission hook is called, and a denial emitted,', () => {
  it('before a tool call of a run', async () => {
    const done: string[] = [];
    const { asked, denials, ...hook } = denying('tool.call');
    const { model } = scriptedModel(callsTools({ tool: 'write', input: {} }), says('ok'));
    const chunks = await readAll(await testRuntime({ model, tools: [write(done)], ...hook }).run(runRequest(), me));
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'forbidden' });
    expect(done).toEqual([]);
    expect(asked).toContain('tool.call tool write for local');
    expect(denials()).toMatchObject([{ action: 'tool.call', target: { id: 'write' }, error: refused }]);
  });

  it('before a tool call without a model, as of an MCP client', async () => {
    const done: string[] = [];
    const { denials, asked: _, ...hook } = denying('tool.call');
    const runtime = testRuntime({ model: scriptedModel().model, tools: [write(done)], ...hook });
    const { tools: [tool], call } = await runtime.tools('helper', me);
    const facts = { toolCallId: 'c', signal: new AbortController().signal, log: () => undefined };
    expect(await call(tool!, {}, facts)).toMatchObject({ ok: false, error: refused });
    expect(done).toEqual([]);
    expect(denials()).toMatchObject([{ action: 'tool.call', actor: { type: 'user', id: 'local' } }]);
  });

  it.each([
    ['tool call of a plan', 'tool.call', callsTools({ tool: 'write', input: {} }), { id: 'write' }],
    ['sub-agent', 'planner.create', callsTools({ tool: 'create', input: { goal: 'x', agentId: 'other' } }), {
      id: 'other',
    }],
  ])('before a %s', async (_, action, script, target) => {
    const done: string[] = [];
    const { denials, asked, ...hook } = denying(action, target.id);
    const { model } = scriptedModel(script, says('ok'));
    const runtime = testRuntime({ model, tools: [write(done)], ...hook });
    await runtime.planner.run({ goal: 'g', agentId: 'helper' }, me);
    expect(asked.some((one) => one.startsWith(action))).toBe(true);
    expect(done).toEqual([]);
    expect(denials()).toMatchObject([{ action, target, error: refused }]);
    await runtime.close();
  });

  it.each([
    ['the first agent of a plan', 'helper', { agentId: 'helper' }],
    ['a task that a plan is given', 'other', { plan: { tasks: [{ key: 'a', goal: 'a', agentId: 'other' }] } }],
  ])('before %s is created', async (_, agentId, terms) => {
    const { denials, asked, ...hook } = denying('planner.create', agentId);
    const { planner } = testRuntime({ model: scriptedModel(says('ok')).model, ...hook });
    await expect(planner.start({ goal: 'g', ...terms }, me)).rejects.toMatchObject(refused);
    expect(asked).toContain(`planner.create agent ${agentId} for local`);
    expect(denials()).toMatchObject([{ action: 'planner.create', target: { type: 'agent', id: agentId } }]);
  });

  it.each(['pause', 'resume', 'cancel'] as const)('before a caller can %s a plan', async (how) => {
    const { denials, asked, ...hook } = denying(`plan.${how}`);
    const runtime = testRuntime({ model: scriptedModel(() => stallingStream([])).model, ...hook });
    const { planId } = await runtime.planner.start({ goal: 'g', agentId: 'helper' }, me);
    const steered = runtime.planner[how](planId, me);
    await expect(steered).rejects.toMatchObject({ ...refused, message: `Cannot ${how} the plan: not today` });
    expect(asked).toContain(`plan.${how} plan ${planId} for local`);
    expect(denials()).toMatchObject([{ action: `plan.${how}`, target: { type: 'plan', id: planId } }]);
    expect(await runtime.planner.view(planId, me)).toMatchObject({ state: 'running', paused: false });
    await runtime.close();
  });

  it('before a decision on a call', async () => {
    const { denials, asked, ...hook } = denying('approval.decide');
    const risky = defineTool({
      id: 'risky',
      description: 'x',
      approval: 'always',
      input: v.object({}),
      execute: () => 1,
    });
    const { model } = scriptedModel(callsTools({ tool: 'risky', input: {} }));
    const runtime = testRuntime({ model, tools: [risky], ...hook });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    const { approvalId } = chunks.find((chunk) => chunk.type === 'tool-approval-request')!;
    const { runId } = lastData(chunks, 'data-run');
    const decided = runtime.decide(String(runId), approvalId, { approved: true }, me);
    await expect(decided).rejects.toMatchObject({ ...refused, message: 'Cannot decide: not today' });
    expect(asked).toContain(`approval.decide approval ${approvalId} for local`);
    expect(denials()).toMatchObject([{ action: 'approval.decide', target: { id: approvalId } }]);
  });

  it('before an answer to a plan, in process and through its run', async () => {
    const { denials, asked: _, ...hook } = denying('approval.decide');
    const { model } = scriptedModel(callsTools({ tool: 'ask_human', input: { question: 'Which side?' } }));
    const runtime = testRuntime({ model, ...hook });
    const chunks = await readAll(await runtime.run(runRequest({ planner: { allowHumanIntervention: true } }), me));
    const { runId, planId = runId } = lastData(chunks, 'data-run');
    const { planId: followed } = await runtime.runs.status(me, String(runId));
    const [question] = await runtime.planner.questions(followed ?? String(planId), me);
    const reply = { askId: question!.ask, answer: 'Port' };
    await expect(runtime.reply(String(runId), reply, me)).rejects.toMatchObject(refused);
    await expect(runtime.planner.reply(followed ?? '', me, reply)).rejects.toMatchObject(refused);
    expect(denials()).toHaveLength(2);
    await runtime.close();
  });

  it('before a retrieval, of an agent and over HTTP, by the hook of the runtime alone', async () => {
    const { denials, asked: _, ...hook } = denying('grounding.retrieve');
    const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage: memoryStorage() })] });
    const { model } = scriptedModel(callsTools({ tool: 'retrieve', input: { query: 'leave' } }), says('ok'));
    const runtime = testRuntime({ model, grounding, agent: { dataSources: ['handbook'] }, ...hook });
    await readAll(await runtime.run(runRequest(), me));
    const denied = { action: 'grounding.retrieve', target: { type: 'data-source', id: 'handbook' }, error: refused };
    expect(denials()).toContainEqual(expect.objectContaining({ action: denied.action, target: denied.target }));
    const before = denials().length;
    const handler = createHandler(runtime, {
      authenticator: developmentAuthenticator({ token: 'a-token-for-tests' }),
      grounding: { grounding, storage: memoryStorage() },
    });
    const answer = await handler(
      new Request('http://127.0.0.1/v1/grounding/handbook/retrieve', {
        method: 'POST',
        headers: { 'authorization': 'Bearer a-token-for-tests', 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'leave' }),
      }),
    );
    expect(await answer.json()).toMatchObject({ hits: [], sources: [{ error: { code: 'forbidden' } }] });
    expect(denials()).toHaveLength(before + 1);
  });

  it('before an MCP server is approved', async () => {
    const { denials, asked: _, ...hook } = denying('mcp.approve');
    const runtime = testRuntime({ model: scriptedModel().model, ...hook });
    const approved = runtime.validateMcpServer('docs', { approve: true }, me);
    await expect(approved).rejects.toMatchObject(refused);
    await expect(runtime.validateMcpServer('docs', {}, me)).rejects.toMatchObject({ code: 'not_found' });
    expect(denials()).toMatchObject([{ action: 'mcp.approve', target: { type: 'mcp-server', id: 'docs' } }]);
  });

  it('before a change of the registry', async () => {
    const { denials, asked, ...hook } = denying('registry.register');
    const registry = createRegistry({ storage: memoryStorage(), ...hook });
    const given = registry.providers.register({ id: 'main', kind: 'rehearsal' }, { principal: me });
    await expect(given).rejects.toMatchObject(refused);
    expect(asked).toEqual(['registry.register provider main for local']);
    expect(denials()).toMatchObject([{ action: 'registry.register', target: { type: 'provider', id: 'main' } }]);
  });
});

describe('the permission hook, on one tool call of a run,', () => {
  /** A hook that answers in turn, and how often it and the check of the tool's input were called. */
  function counted(...answers: Authorization[]) {
    const inputs: unknown[] = [];
    const counts = { checks: 0, executed: 0 };
    const tool = defineTool({
      id: 'write',
      description: 'Writes',
      input: v.object({ to: v.optional(v.string(), 'log') }),
      execute: () => ++counts.executed,
    });
    const authorize: Authorize = (action, _principal, _resource, { input }) => {
      if (action !== 'tool.call') return { decision: 'allow' };
      inputs.push(input);
      return answers[inputs.length - 1] ?? { decision: 'deny', reason: 'asked too often' };
    };
    const check: typeof tool.check = (input) => (counts.checks++, tool.check(input));
    return { inputs, counts, authorize, tools: [{ ...tool, check }] };
  }
  const script = () => scriptedModel(callsTools({ tool: 'write', input: {} }), says('ok'));

  it('is called once, with the checked input, and the input is checked once', async () => {
    const { inputs, counts, ...composed } = counted({ decision: 'allow' });
    await readAll(await testRuntime({ ...script(), ...composed }).run(runRequest(), me));
    expect(counts).toEqual({ checks: 1, executed: 1 });
    expect(inputs).toEqual([{ to: 'log' }]);
  });

  it('is called again after a person has approved the call, and its denial still counts', async () => {
    const asks: Authorization = { decision: 'ask', reason: 'writing is asked about' };
    for (const [last, executed] of [[asks, 1], [{ decision: 'deny', reason: 'no longer' }, 0]] as const) {
      const { inputs, counts, ...composed } = counted(asks, last);
      const runtime = testRuntime({ ...script(), ...composed });
      const chunks = await readAll(await runtime.run(runRequest(), me));
      const request = chunks.find((chunk) => chunk.type === 'tool-approval-request')!;
      expect(inputs).toHaveLength(1);
      const { approvalId: id, toolCallId } = request;
      await runtime.decide(String(lastData(chunks, 'data-run')['runId']), id, { approved: true }, me);
      const waiting = { type: 'tool-write', toolCallId, input: {}, state: 'approval-requested', approval: { id } };
      const messages = [userMessage('Write'), { id: 'm2', role: 'assistant', parts: [waiting] } as UIMessage];
      await readAll(await runtime.run(runRequest({ chat: { id: 'chat-1', messages } }), me));
      expect({ asked: inputs.length, executed: counts.executed }).toEqual({ asked: 2, executed });
    }
  });
});
