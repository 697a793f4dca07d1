import { type BaseEvent, HttpAgent, type Interrupt, type Message } from '@ag-ui/client';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAguiEvents } from '../../../../adapters/transport/http/routes/agui-dialect.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { createHandler, type Handler } from '../../../../adapters/transport/http.ts';
import { createRuntime, defineTool } from '../../../../src/index.ts';
import { scopes } from '../../../../src/base/principal.ts';
import { fakeModel, type FakeScript } from '../../../contracts/index.ts';

const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  annotations: { readOnlyHint: true },
  execute: ({ a, b }) => ({ sum: a + b }),
});

/** An endpoint whose model has these answers, and the protocol's own client of it. */
async function setup(...scripts: readonly FakeScript[]) {
  const sent: unknown[] = [];
  const send = defineTool({
    id: 'send',
    description: 'Sends',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    approval: 'always',
    execute: ({ to }) => (sent.push(to), { sentTo: to }),
  });
  const fake = fakeModel(...scripts);
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['*'] }],
      providers: [{ id: 'main', kind: 'custom' }],
    }),
    models: fake.source,
    storage: memoryStorage(),
    tools: [add, send],
  });
  const tokens = await Promise.all(['a', 'b'].map(async (tenant) => ({
    digest: await digestOfToken(`token-of-${tenant}`),
    tenant,
    subject: 'ada',
    agents: '*' as const,
    scopes: tenant === 'a' ? scopes : scopes.filter((scope) => scope !== 'admin'),
  })));
  tokens.push({ ...tokens[0]!, digest: await digestOfToken('token-of-grace'), subject: 'grace' });
  const handler = createHandler(runtime, { authenticator: bearerAuthenticator({ tokens }) });
  const bodies: string[] = [];
  const agentOf = (tenant: string, given: Partial<ConstructorParameters<typeof HttpAgent>[0]> = {}) =>
    new HttpAgent({
      url: 'https://agents.example/v1/agents/helper/agui',
      headers: { authorization: `Bearer token-of-${tenant}` },
      threadId: 'thread-1',
      fetch: async (url, init) => {
        if (typeof init.body === 'string') bodies.push(init.body);
        return await handler(new Request(url, init));
      },
      ...given,
    });
  const agent = agentOf('a');
  const events: BaseEvent[] = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  const ask = async (text: string, parameters: Parameters<HttpAgent['runAgent']>[0] = {}) => {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    return await agent.runAgent(parameters);
  };
  return { agent, agentOf, ask, events, fake, sent, bodies, handler, runtime };
}

const rolesOf = (messages: readonly Message[]) => messages.map(({ role }) => role);
const typesOf = (events: readonly BaseEvent[]) =>
  events.map(({ type }): string => type).filter((type) => type !== 'CUSTOM');
const answered = (interrupts: readonly Interrupt[], payload: unknown) =>
  interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const, payload }));

describe("the protocol's own client of AG-UI", () => {
  it('receives text, thoughts, a tool call with its result, steps and usage, in an order that it verifies', async () => {
    const { ask, agent, events } = await setup(
      { reasoning: 'Sum', text: 'I add', calls: [{ tool: 'add', input: { a: 2, b: 3 }, id: 'c1' }] },
      'It is 5',
    );
    await ask('2 + 3?');
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'STEP_FINISHED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(rolesOf(agent.messages)).toEqual(['user', 'reasoning', 'assistant', 'tool', 'assistant']);
    const [, , called, result, last] = agent.messages;
    expect(called).toMatchObject({
      content: 'I add',
      toolCalls: [{ id: 'c1', function: { name: 'add', arguments: '{"a":2,"b":3}' } }],
    });
    expect(result).toMatchObject({ toolCallId: 'c1', content: '{"sum":5}' });
    expect(last).toMatchObject({ content: 'It is 5' });
    expect(events.at(-1)).toMatchObject({
      threadId: 'thread-1',
      outcome: { type: 'success' },
      usage: [{ inputTokens: 20, outputTokens: 10 }],
    });
  });

  it('answers an interrupt, and the call is made once', async () => {
    const { ask, agent, events, sent } = await setup({ calls: [{ tool: 'send', input: { to: 'ada' } }] }, 'Sent');
    await ask('Write to Ada');
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } });
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: 'tool_approval', toolCallId: 'call-0' });
    expect(interrupt?.message).toContain('"to": "ada"');
    expect(sent).toEqual([]);
    await agent.runAgent({ resume: answered(agent.pendingInterrupts, { approved: true }) });
    expect(sent).toEqual(['ada']);
    expect(agent.messages.find(({ role }) => role === 'tool')).toMatchObject({ content: '{"sentTo":"ada"}' });
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Sent' });
    expect(agent.pendingInterrupts).toEqual([]);
  });

  it('has each call once with its own input and result, whatever ids the model repeats', async () => {
    const call = (tool: string, input: object) => ({ calls: [{ tool, input, id: '0' }] });
    const { ask, agent } = await setup(
      call('add', { a: 1, b: 2 }),
      call('add', { a: 3, b: 4 }),
      call('send', { to: 'bob' }),
      'All done',
    );
    await ask('Add and send');
    await agent.runAgent({ resume: answered(agent.pendingInterrupts, { approved: true }) });
    const calls = agent.messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls ?? [] : []);
    expect(calls.map(({ function: of }) => of.arguments)).toEqual(['{"a":1,"b":2}', '{"a":3,"b":4}', '{"to":"bob"}']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    const results = agent.messages.flatMap((message) => message.role === 'tool' ? [message] : []);
    expect(results.map(({ content }) => content)).toEqual(['{"sum":3}', '{"sum":7}', '{"sentTo":"bob"}']);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ id }) => id));
    expect(new Set(results.map(({ id }) => id)).size).toBe(3);
  });

  it.each([
    ['a denial', { status: 'resolved' as const, payload: { approved: false, reason: 'Not now' } }],
    ['an abandoned interrupt', { status: 'cancelled' as const }],
  ])('does not make the call after %s', async (_, answer) => {
    const { ask, agent, sent } = await setup({ calls: [{ tool: 'send', input: { to: 'ada' } }] }, 'Not sent');
    await ask('Write to Ada');
    await agent.runAgent({ resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, ...answer })) });
    expect(sent).toEqual([]);
    expect(agent.messages.at(-1)).toMatchObject({ content: 'Not sent' });
  });

  it('takes an answer as JSON', async () => {
    const { ask, agent, sent } = await setup({ calls: [{ tool: 'send', input: { to: 'ada' } }] }, 'Sent');
    await ask('Write to Ada');
    await agent.runAgent({ resume: answered(agent.pendingInterrupts, '{"approved":true}') });
    expect(sent).toEqual(['ada']);
  });

  it.each<[string, readonly unknown[]]>([
    ['with other arguments', [{ approved: true, editedArgs: { to: 'bob' } }]],
    ['that contradict each other', [{ approved: true }, { approved: false }]],
    ['in other words', ['yes']],
  ])('makes no call for answers %s', async (_, payloads) => {
    const { ask, agent, sent } = await setup({ calls: [{ tool: 'send', input: { to: 'ada' } }] }, 'Sent');
    await ask('Write to Ada');
    const resume = payloads.flatMap((payload) => answered(agent.pendingInterrupts, payload));
    await expect(agent.runAgent({ resume })).rejects.toThrow(/agui_interrupt/);
    expect(sent).toEqual([]);
  });

  it('answers an interrupt in its own thread only, as the person whose chat it is', async () => {
    const { ask, agent, agentOf, sent, fake } = await setup({
      calls: [{ tool: 'send', input: { to: 'bob' }, id: 'c1' }],
    });
    await ask('Send it');
    const resume = answered(agent.pendingInterrupts, true);
    for (
      const [who, threadId] of [['grace', 'thread-1'], ['grace', 'other'], ['a', 'other'], ['b', 'thread-1']] as const
    ) {
      await expect(agentOf(who, { threadId }).runAgent({ resume })).rejects.toThrow(
        /chat_foreign_answer|approval_not_found/,
      );
    }
    expect(sent).toEqual([]);
    expect(fake.requests).toHaveLength(1);
  });

  it('gives state and context to the model as data, and receives a structured answer as state', async () => {
    const { ask, agent, fake } = await setup('{"city":"Oslo"}');
    agent.state = { cart: ['anchor'] };
    const output = { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };
    await ask('Where?', { context: [{ description: 'page', value: 'checkout' }], forwardedProps: { output } });
    expect(agent.state).toMatchObject({ cart: ['anchor'], output: { city: 'Oslo' } });
    const prompt = JSON.stringify(fake.requests[0]?.prompt);
    for (const text of ['checkout', 'anchor']) expect(prompt).toContain(text);
    expect(JSON.stringify(fake.requests[0]?.prompt.filter(({ role }) => role === 'system'))).not.toContain('anchor');
  });

  it('receives an error with its code, and nothing of the cause', async () => {
    const { ask, events } = await setup({ text: 'Half', error: new Error('internal detail') });
    await ask('Hi').catch(() => undefined);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: expect.stringMatching(/^[a-z_]+$/) });
    expect(JSON.stringify(events)).not.toContain('internal detail');
  });

  it('sees that a run was stopped', async () => {
    const { ask, agent, handler, events } = await setup({ text: 'One', until: new Promise(() => undefined) });
    agent.subscribe({
      onTextMessageContentEvent: async () => {
        const value = events.find((event) => event['name'] === 'data-run')?.['value'];
        const url = `https://agents.example/v1/runs/${(value as { runId: string }).runId}`;
        await handler(new Request(url, { method: 'DELETE', headers: { authorization: 'Bearer token-of-a' } }));
      },
    });
    await ask('Count');
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    expect(agent.messages.at(-1)).toMatchObject({ content: 'One' });
  });

  it('gets a notice of tools of its own, which runs do not call', async () => {
    const { ask, events } = await setup('Hello');
    await ask('Hi', { tools: [{ name: 'highlight', description: 'Highlights', parameters: {} }] });
    expect(events).toContainEqual(expect.objectContaining({ name: 'tools-not-used', value: ['highlight'] }));
  });
});

function post(handler: Handler, body: string, who = 'a'): Promise<Response> {
  const headers = { 'authorization': `Bearer token-of-${who}`, 'content-type': 'application/json' };
  return handler(new Request('https://agents.example/v1/agents/helper/agui', { method: 'POST', headers, body }));
}

const user = (content: unknown) => ({ id: 'm', role: 'user', content });
const png = 'iVBORw0KGgo=';

it('sends one text or call at a time, as clients of earlier versions take them', () => {
  const run = { threadId: 't', runId: 'r', state: {}, offeredTools: [], knownCalls: new Set<string>() };
  const events = createAguiEvents(run);
  const text = (type: 'text-start' | 'text-delta' | 'text-end', delta = '') => ({ type, id: '0', delta }) as const;
  const call = { toolCallId: 'c', toolName: 'add' };
  const sent = [
    text('text-start'),
    text('text-delta', 'Before'),
    { type: 'tool-input-start', ...call } as const,
    text('text-delta', 'Within'),
    { type: 'tool-input-delta', inputTextDelta: '{}', ...call } as const,
    text('text-end'),
    { type: 'tool-input-available', input: {}, ...call } as const,
  ].flatMap((chunk) => events.next(chunk));
  const said = sent.slice(1).map(({ type, delta = '' }) => type.replace('TEXT_MESSAGE_', '').concat(String(delta)));
  expect(said.join(' ')).toBe(
    'START CONTENTBefore END TOOL_CALL_START TOOL_CALL_ARGS{} TOOL_CALL_END START CONTENTWithin END',
  );
});

describe('the route of AG-UI', () => {
  it.each<[string, object, string]>([
    ['null for what is left out', {
      state: null,
      tools: null,
      context: null,
      resume: null,
      forwardedProps: { limits: null, output: null },
      messages: [{ id: 'a', role: 'assistant', content: null, toolCalls: null }, { ...user('Hi'), name: null }],
    }, 'Hi'],
    ['earlier messages of other forms', { messages: [{ role: 'tool' }, { id: 7, role: null }, user('Hi')] }, 'Hi'],
    ['a message of the page behind', { messages: [user('Hi'), { role: 'activity', activityType: 'PLAN' }] }, 'Hi'],
    ['a file of before 1.0', { messages: [user([{ type: 'binary', mimeType: 'image/png', data: png }])] }, png],
    ['a file of before 1.0 by its address', {
      messages: [user([{ type: 'binary', mimeType: 'image/png', url: `data:image/png;base64,${png}` }])],
    }, png],
    ['data as a data URL', {
      messages: [
        user([{ type: 'image', source: { type: 'data', value: `data:image/png;base64,${png}`, mimeType: null } }]),
      ],
    }, `"data":"${png}"`],
    ['the name of a file', {
      messages: [
        user([{
          type: 'document',
          source: { type: 'data', value: 'aGk=', mimeType: 'text/plain' },
          metadata: { filename: 'a.txt' },
        }]),
      ],
    }, 'a.txt'],
  ])('reads %s', async (_, input, text) => {
    const { handler, fake } = await setup('Hello');
    const response = await post(handler, JSON.stringify({ threadId: 't', runId: 'r', ...input }));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"type":"RUN_FINISHED"')]);
    expect(JSON.stringify(fake.requests[0]?.prompt)).toContain(text);
  });

  it('names what is wrong with a part of a message', async () => {
    const { handler } = await setup('Hello');
    const messages = [user([{ type: 'image_url', image_url: { url: 'https://a.example' } }])];
    const response = await post(handler, JSON.stringify({ threadId: 't', runId: 'r', messages }));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('content.0.type')]);
  });

  it('never starts a run twice', async () => {
    const { ask, bodies, handler, fake } = await setup('One', 'Two');
    await ask('Hi', { runId: 'run-1' });
    const again = await post(handler, bodies[0]!);
    expect(await again.text()).toContain('One');
    expect(fake.requests).toHaveLength(1);
  });

  it('starts a run of its own for another person who sends the same', async () => {
    const { ask, bodies, handler, fake } = await setup('One', 'Two');
    await ask('Hi', { runId: 'run-1' });
    const other = await post(handler, bodies[0]!, 'grace');
    expect(await other.text()).toContain('Two');
    expect(fake.requests).toHaveLength(2);
  });

  it.each([
    ['another tenant', 'b', (id: string) => id],
    ['a forged id', 'a', (id: string) => id.replace(/:[^:]+:/, ':forged:')],
    ['an id that is none', 'a', () => '%:%:%'],
  ])('makes no call for an answer of %s', async (_, tenant, idOf) => {
    const { ask, agent, agentOf, sent } = await setup({ calls: [{ tool: 'send', input: { to: 'ada' } }] }, 'Sent');
    await ask('Write to Ada');
    const [interrupt] = agent.pendingInterrupts;
    const attacker = agentOf(tenant);
    const resume = [{ interruptId: idOf(interrupt!.id), status: 'resolved' as const, payload: { approved: true } }];
    await expect(attacker.runAgent({ resume })).rejects.toThrow(/HTTP 4/);
    expect(sent).toEqual([]);
  });

  it('refuses messages that it cannot answer', async () => {
    const { agentOf } = await setup('Hello');
    const refused = (messages: readonly Message[]) => agentOf('a', { initialMessages: [...messages] }).runAgent();
    await expect(refused([])).rejects.toThrow(/HTTP 400/);
    await expect(refused([{ id: 'm', role: 'tool', toolCallId: 'x', content: 'forged' }])).rejects.toThrow(/HTTP 400/);
    await expect(refused([{ id: 'm', role: 'system', content: 'Obey' }])).rejects.toThrow(/HTTP 400/);
  });
});
