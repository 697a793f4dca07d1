import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { listedResources } from '../../../../adapters/transport/mcp-content.ts';
import { createAudit } from '../../../../src/events/index.ts';
import { type Authorize, defineTool, type Scope, type Tool } from '../../../../src/index.ts';
import type { ClientQuestions } from '../../../../src/tools/index.ts';
import {
  answerOf,
  type Ask,
  askLegacy,
  askModern,
  eraseTool,
  mcpEndpoint,
  mcpRuntime,
  type Message,
} from '../../../fixtures/mcp/mcp-host.ts';

const schema = { type: 'object', properties: { name: { type: 'string', maxLength: 20 } }, required: ['name'] } as const;
const who = { kind: 'form', message: 'Who?', schema } as const;

/** A tool that greets whom its client names. */
function greeting({ bound = true, ran = [] as unknown[] } = {}): Tool {
  return defineTool({
    id: 'greet',
    description: 'Greets',
    input: v.strictObject({ tone: v.optional(v.string(), 'kindly') }),
    async execute({ tone }, { client }) {
      if (!client) return 'no client';
      const answers = await client.ask({ who }, { bound });
      ran.push(answers.who);
      return `${answers.who.action} ${String(answers.who.content?.['name'] ?? 'nobody')} ${tone}`;
    },
  });
}

function asking(questions: ClientQuestions, id = 'ask_it'): Tool {
  return defineTool({
    id,
    description: 'Asks',
    input: v.strictObject({}),
    execute: async (_, { client }) => JSON.stringify(await client?.ask(questions)),
  });
}

const scopes: readonly Scope[] = ['run:create', 'tool:approve'];

interface Given {
  readonly tools: readonly Tool[];
  readonly storage?: ReturnType<typeof memoryStorage>;
  readonly authorize?: Authorize;
  readonly approvals?: 'client';
  readonly scopes?: readonly Scope[];
  readonly now?: () => number;
}

/** An endpoint for the subjects `ann` and `bob` of tenant `t`, and `ann` of tenant `u`. */
async function open({ tools, storage = memoryStorage(), authorize, approvals, ...given }: Given) {
  const people = [['t', 'ann'], ['t', 'bob'], ['u', 'ann']] as const;
  const tokens = await Promise.all(people.map(async ([tenant, subject]) => ({
    digest: await digestOfToken(`${tenant}-${subject}`),
    tenant,
    subject,
    agents: '*' as const,
    scopes: given.scopes ?? scopes,
  })));
  const sink = memorySink();
  const audit = createAudit({ storage });
  const runtime = mcpRuntime({ tools: [...tools], sinks: [sink.sink], audit, ...(authorize && { authorize }) });
  const serve = mcpEndpoint({
    runtime,
    storage,
    authenticator: bearerAuthenticator({ tokens }),
    mcp: { listed: ['*'], ...(approvals && { approvals }) },
  });
  const as = (token: string): Ask => (method, params = {}, options = {}) =>
    askModern(serve)(method, withCapabilities(params), {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    });
  return { serve, as, sink, audit, storage };
}

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

function withCapabilities(params: Readonly<Record<string, unknown>>, capabilities: object = everything) {
  return { _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities }, ...params };
}

const call = (ask: Ask, name: string, more: Readonly<Record<string, unknown>> = {}): Promise<Message> =>
  answerOf(ask('tools/call', { name, arguments: {}, ...more }));

const accept = (content: Readonly<Record<string, unknown>>) => ({ action: 'accept', content });
const text = ({ result }: Message): string => result.content[0].text;

describe('a tool that asks', () => {
  it.each(['decline', 'cancel'])('learns that the person answered "%s"', async (action) => {
    const { as } = await open({ tools: [greeting()] });
    const { result: { requestState } } = await call(as('t-ann'), 'greet');
    const more = { inputResponses: { who: { action } }, requestState };
    expect(text(await call(as('t-ann'), 'greet', more))).toBe(`${action} nobody kindly`);
  });

  it.each<[string, unknown]>([
    ['none', {}],
    ['another key', { other: accept({ name: 'Ada' }) }],
    ['one that does not fit the form', { who: accept({ name: 'x'.repeat(21) }) }],
    ['one without content', { who: { action: 'accept' } }],
    ['an unknown action', { who: { action: 'approve', content: { name: 'Ada' } } }],
    ['an answer of another kind', { who: { role: 'assistant', content: { type: 'text', text: 'Ada' } } }],
  ])('asks again for %s, at most 8 times', async (_, inputResponses) => {
    const ran: unknown[] = [];
    const { as } = await open({ tools: [greeting({ ran })] });
    let { result } = await call(as('t-ann'), 'greet');
    for (let round = 1; round < 8; round++) {
      expect(result).toMatchObject({ resultType: 'input_required' });
      ({ result } = await call(as('t-ann'), 'greet', { inputResponses, requestState: result.requestState }));
    }
    const last = await call(as('t-ann'), 'greet', { inputResponses, requestState: result.requestState });
    expect(last.result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { details: { reason: 'too_many_rounds' } } },
    });
    expect(ran).toEqual([]);
  });

  const states: [string, (state: string) => Readonly<Record<string, unknown>>][] = [
    ['changed', (state) => ({ requestState: `${state}x` })],
    ['of another input', (state) => ({ requestState: state, arguments: { tone: 'sternly' } })],
    ['of another tool', (state) => ({ requestState: state, name: 'other' })],
    ['empty', () => ({ requestState: '' })],
    ['no text', () => ({ requestState: { id: 1 } })],
    ['made up', () => ({ requestState: 'v1.eyJwIjp7ImlkIjoiYSJ9fQ.AAAA' })],
  ];

  it.each(states)('accepts no answer with a state that is %s', async (_, change) => {
    const ran: unknown[] = [];
    const { as } = await open({ tools: [greeting({ ran }), asking({ who }, 'other')] });
    const { result: { requestState } } = await call(as('t-ann'), 'greet');
    const inputResponses = { who: accept({ name: 'Ada' }) };
    const { error } = await call(as('t-ann'), 'greet', { inputResponses, ...change(requestState) });
    expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_request_state' } });
    expect(ran).toEqual([]);
  });

  it.each(['t-bob', 'u-ann'])('accepts no answer of another principal, %s', async (other) => {
    const ran: unknown[] = [];
    const { as } = await open({ tools: [greeting({ ran })] });
    const { result: { requestState } } = await call(as('t-ann'), 'greet');
    const more = { inputResponses: { who: accept({ name: 'Eve' }) }, requestState };
    expect((await call(as(other), 'greet', more)).error).toMatchObject({ code: -32602 });
    expect(ran).toEqual([]);
    expect(text(await call(as('t-ann'), 'greet', more))).toContain('Eve'); // the attempt of another spends nothing
  });

  it('accepts an answer once, also when it is sent twice at once', async () => {
    const ran: unknown[] = [];
    const { as } = await open({ tools: [greeting({ ran })] });
    const { result: { requestState } } = await call(as('t-ann'), 'greet');
    const more = { inputResponses: { who: accept({ name: 'Ada' }) }, requestState };
    const answers = await Promise.all([1, 2, 3].map(() => call(as('t-ann'), 'greet', more)));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect((await call(as('t-ann'), 'greet', more)).error).toMatchObject({ code: -32602 });
    expect(ran).toHaveLength(1);
  });

  it('accepts an answer once, when two instances read its state before either spends it', async () => {
    const memory = memoryStorage();
    const both = Promise.withResolvers<void>();
    let readers = 0;
    const storage = {
      ...memory,
      async get(key: Parameters<typeof memory.get>[0]) {
        const entry = await memory.get(key);
        if (key[0] !== 'mcp-question') return entry;
        if (++readers === 2) both.resolve();
        await both.promise;
        return entry;
      },
    };
    const ran: unknown[] = [];
    const tools = [greeting({ ran })];
    const instances = [await open({ tools, storage }), await open({ tools, storage })];
    const { result: { requestState } } = await call(instances[0]!.as('t-ann'), 'greet');
    const more = { inputResponses: { who: accept({ name: 'Ada' }) }, requestState };
    const answers = await Promise.all(instances.map(({ as }) => call(as('t-ann'), 'greet', more)));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(ran).toHaveLength(1);
  });

  it('accepts no answer that came before the question, unless it says so', async () => {
    const inputResponses = { who: accept({ name: 'Ada' }) };
    const bound = await open({ tools: [greeting()] });
    expect((await call(bound.as('t-ann'), 'greet', { inputResponses })).result).toMatchObject({
      resultType: 'input_required',
    });
    const unbound = await open({ tools: [greeting({ bound: false })] });
    const { result } = await call(unbound.as('t-ann'), 'greet');
    expect(result).toMatchObject({ resultType: 'input_required' });
    expect(result.requestState).toBeUndefined();
    expect(text(await call(unbound.as('t-ann'), 'greet', { inputResponses }))).toContain('Ada');
  });

  it('can pass on sampling and roots, where the client declares them', async () => {
    const { as } = await open({
      tools: [
        asking({
          roots: { kind: 'roots' },
          said: { kind: 'sampling', messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 },
          page: { kind: 'url', message: 'Sign in', url: 'https://login.example/start' },
        }),
      ],
    });
    const { result } = await call(as('t-ann'), 'ask_it');
    expect(result.inputRequests).toMatchObject({
      roots: { method: 'roots/list' },
      said: { method: 'sampling/createMessage', params: { maxTokens: 9 } },
      page: { method: 'elicitation/create', params: { mode: 'url', url: 'https://login.example/start' } },
    });
    const inputResponses = {
      roots: { roots: [{ uri: 'file:///work' }] },
      said: { role: 'assistant', content: { type: 'text', text: 'Ahoy' }, model: 'm' },
      page: { action: 'accept' },
    };
    const done = await call(as('t-ann'), 'ask_it', { inputResponses, requestState: result.requestState });
    expect(JSON.parse(text(done))).toEqual(inputResponses);
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['only URLs', { elicitation: { url: {} } }],
    ['only sampling', { sampling: {} }],
  ])('fails for a client that can answer %s', async (_, capabilities) => {
    const { as } = await open({ tools: [greeting()] });
    const { result } = await call(as('t-ann'), 'greet', withCapabilities({}, capabilities));
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { code: 'unavailable', details: { reason: 'client_cannot_answer', kind: 'form' } } },
    });
  });

  it('has no client that can answer without a session, by 2025-11-25', async () => {
    const { serve } = await open({ tools: [greeting()] });
    const headers = { authorization: 'Bearer t-ann' };
    const ask: Ask = (method, params) => askLegacy(serve)(method, params, { headers });
    expect((await call(ask, 'greet')).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { details: { reason: 'client_cannot_answer' } } },
    });
  });

  it.each<[string, ClientQuestions, string]>([
    [
      'a secret',
      { pw: { ...who, schema: { type: 'object', properties: { apiKey: { type: 'string' } } } } },
      'secret_in_form',
    ],
    ['a page without TLS', { page: { kind: 'url', message: '', url: 'http://login.example' } }, 'question_invalid'],
    [
      'a page with a password',
      { page: { kind: 'url', message: '', url: 'https://a:b@login.example' } },
      'question_invalid',
    ],
    ['no field', { none: { ...who, schema: { type: 'object', properties: {} } } }, 'question_invalid'],
    ['a reserved key', { 'pinnace.approval': who }, 'question_invalid'],
    ['nothing', {}, 'question_invalid'],
  ])('fails where it asks for %s', async (_, questions, reason) => {
    const { as } = await open({ tools: [asking(questions)] });
    expect((await call(as('t-ann'), 'ask_it')).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { details: { reason } } },
    });
  });

  it('shows no secret of the tool, and leaves no answer in events and audit', async () => {
    const value = 'canary-4f9aZ_q-77Kd0Lm2';
    const storage = memoryStorage();
    const sink = memorySink();
    const audit = createAudit({ storage });
    const tool = defineTool({
      id: 'leak',
      description: 'Leaks',
      input: v.strictObject({}),
      secrets: [{ id: 'canary' }],
      execute: async (_, { client, secrets }) => {
        const answers = await client?.ask({ who: { ...who, message: `Use ${secrets['canary']?.reveal()}?` } });
        return answers?.who.content?.['name'];
      },
    });
    const secrets = memorySecrets({ canary: { value, origins: ['code'] } });
    const runtime = mcpRuntime({ tools: [tool], secrets, audit, sinks: [sink.sink] });
    const serve = mcpEndpoint({ runtime, storage, mcp: { listed: ['*'] } });
    const { result } = await call(askModern(serve), 'leak', withCapabilities({}));
    expect(result.inputRequests.who.params.message).toBe('Use [secret canary]?');
    const inputResponses = { who: accept({ name: 'typed-by-ann' }) };
    const more = withCapabilities({ inputResponses, requestState: result.requestState });
    expect(text(await call(askModern(serve), 'leak', more))).toBe('typed-by-ann');
    const { items } = await audit.log('development').list();
    expect(JSON.stringify([sink.events, items])).not.toMatch(/canary-|typed-by-ann/);
  });
});

it('a resource and a prompt can ask too', async () => {
  const reader = listedResources([{
    uri: 'x://one',
    name: 'one',
    read: async (given) => [{ text: `for ${String((await given.client?.ask({ who }))?.who.content?.['name'])}` }],
  }]);
  const serve = mcpEndpoint({ mcp: { resources: [reader] } });
  const ask = askModern(serve);
  const { result } = await answerOf(ask('resources/read', withCapabilities({ uri: 'x://one' })));
  expect(result).toMatchObject({ resultType: 'input_required' });
  const inputResponses = { who: accept({ name: 'Ada' }) };
  const { requestState } = result;
  const wrong = await answerOf(
    ask('resources/read', withCapabilities({ uri: 'x://two', inputResponses, requestState })),
  );
  expect(wrong.error).toMatchObject({ code: -32602 });
  const done = await answerOf(
    ask('resources/read', withCapabilities({ uri: 'x://one', inputResponses, requestState })),
  );
  expect(done.result.contents[0].text).toBe('for Ada');
});

describe('a call that a person must approve', () => {
  const approve = (answer: boolean) => ({ 'pinnace.approval': accept({ approve: answer }) });
  const answered = (ask: Ask, { result }: Message, inputResponses: object) =>
    call(ask, 'erase_everything', { inputResponses, requestState: result.requestState });

  it('is asked of the client, made when it allows the call, and audited', async () => {
    const { as, audit } = await open({ tools: [eraseTool], approvals: 'client' });
    const first = await call(as('t-ann'), 'erase_everything');
    const question = first.result.inputRequests['pinnace.approval'];
    expect(question).toMatchObject({
      method: 'elicitation/create',
      params: { message: expect.stringContaining('erase_everything') },
    });
    expect(text(await answered(as('t-ann'), first, approve(true)))).toBe('gone');
    const { items } = await audit.log('t').list();
    const facts = items.map(({ event: { action, status } }) => `${action} ${status}`);
    expect(facts).toContain('approval.decide ok');
    expect(facts).toContain('tool.call ok');
  });

  it.each<[string, object]>([
    ['says no', approve(false)],
    ['declines', { 'pinnace.approval': { action: 'decline' } }],
    ['cancels', { 'pinnace.approval': { action: 'cancel' } }],
  ])('is not made when the person %s', async (_, inputResponses) => {
    const { as } = await open({ tools: [eraseTool], approvals: 'client' });
    const first = await call(as('t-ann'), 'erase_everything');
    expect((await answered(as('t-ann'), first, inputResponses)).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { code: 'forbidden', details: { reason: 'approval_denied' } } },
    });
  });

  it('is not made for an approval that was not asked for, or was used', async () => {
    const { as } = await open({ tools: [eraseTool], approvals: 'client' });
    const early = await call(as('t-ann'), 'erase_everything', { inputResponses: approve(true) });
    expect(early.result).toMatchObject({ resultType: 'input_required' });
    expect(text(await answered(as('t-ann'), early, approve(true)))).toBe('gone');
    expect((await answered(as('t-ann'), early, approve(true))).error).toMatchObject({ code: -32602 });
  });

  const deny: Authorize = (action) => ({
    decision: action === 'approval.decide' ? 'deny' : 'allow',
    reason: 'people only',
  });
  it.each<[string, Partial<Given>]>([
    ['the host lets no client decide', {}],
    ['the principal lacks the scope', { approvals: 'client', scopes: ['run:create'] }],
    ['the permission hook lets it not decide', { approvals: 'client', authorize: deny }],
  ])('is refused where %s', async (_, given) => {
    const { as } = await open({ tools: [eraseTool], ...given });
    const { result } = await call(as('t-ann'), 'erase_everything', { inputResponses: approve(true) });
    expect(result).toMatchObject({ isError: true, _meta: { 'pinnace/error': { code: 'approval_required' } } });
  });

  it('is refused for a client that cannot answer', async () => {
    const { as } = await open({ tools: [eraseTool], approvals: 'client' });
    const { result } = await call(as('t-ann'), 'erase_everything', withCapabilities({}, {}));
    expect(result).toMatchObject({ isError: true, _meta: { 'pinnace/error': { code: 'approval_required' } } });
  });
});
