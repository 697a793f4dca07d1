import { describe, expect, it } from 'vitest';
import { localPrincipal } from '../../../src/runtime/principal.ts';
import type { Secret } from '../../../src/secret.ts';
import { createHttpTool, type HttpToolDefinition, type HttpToolOptions } from '../../../src/tools/http-tool.ts';
import { type HttpToolConfigInput, needsApproval } from '../../../src/tools/http-tool-config.ts';
import { invokeTool } from '../../../src/tools/invoke-tool.ts';
import type { ToolOutcome } from '../../../src/tools/tool.ts';
import { canary, home, redirect, scriptedEgress, type Sent, text } from '../../fixtures/egress.ts';

const anyInput = { type: 'object', properties: {} };

function definition(config: Partial<HttpToolConfigInput>, rest: Partial<HttpToolDefinition> = {}): HttpToolDefinition {
  const secrets = [{ id: 'canary' }];
  return {
    id: 'call',
    description: 'Calls',
    paramsSchema: anyInput,
    secrets,
    config: { origin: home, ...config },
    ...rest,
  };
}

interface CallOptions extends Pick<HttpToolOptions, 'random' | 'wait'> {
  readonly answers?: Parameters<typeof scriptedEgress>[0];
  readonly secrets?: Readonly<Record<string, Secret>>;
  readonly paramsSchema?: HttpToolDefinition['paramsSchema'];
}

const empty = text('{}', { headers: { 'content-type': 'application/json' } });

async function call(
  config: Partial<HttpToolConfigInput>,
  input: unknown,
  { answers = [empty], secrets = { canary }, paramsSchema = anyInput, ...clock }: CallOptions = {},
): Promise<{ outcome: ToolOutcome; sent: Sent[] }> {
  const { egress, sent } = scriptedEgress(answers);
  const tool = createHttpTool(definition(config, { paramsSchema }), {
    egress,
    wait: () => Promise.resolve(),
    ...clock,
  });
  const outcome = await invokeTool(tool, input, {
    toolCallId: 'c',
    agentId: 'a',
    principal: localPrincipal(),
    authorize: () => ({ decision: 'allow' }),
    secrets,
    log() {},
    signal: new AbortController().signal,
    timeoutMs: 5000,
    maxOutputLength: 100_000,
  });
  return { outcome, sent };
}

const json = (value: unknown): () => Response => () => Response.json(value);
const errorOf = (outcome: ToolOutcome): string =>
  outcome.ok ? 'ok' : `${outcome.error.code}: ${(outcome.error.details as { reason: string }).reason}`;

describe('createHttpTool', () => {
  it('fills in path, query and headers, and gives what the server said as the words of a stranger', async () => {
    const { outcome, sent } = await call(
      {
        path: '/repos/{owner}/{repo}.json',
        query: { q: 'is:open {q}', page: '{page}', tag: '{tags}', missing: '{missing}' },
        headers: { 'x-who': 'me and {owner}', 'x-missing': '{missing}' },
      },
      { owner: 'a/b c', repo: 'ü?#', q: '&x=1', page: 2, tags: ['p', 'q'] },
      { answers: [json({ a: 1 })] },
    );
    expect(sent).toEqual([{
      url: `${home}/repos/a%2Fb%20c/%C3%BC%3F%23.json?q=is%3Aopen+%26x%3D1&page=2&tag=p&tag=q`,
      method: 'GET',
      headers: { accept: 'application/json, text/*;q=0.9', 'x-who': 'me and a/b c' },
      body: '',
    }]);
    expect(outcome).toEqual({ ok: true, output: { source: home, untrusted: true, status: 200, data: { a: 1 } } });
  });

  it.each(['.', '..', '', 'a/../b', '..\\x', '%2e%2E', './x', undefined, null])('refuses %j in a path', async (id) => {
    const { outcome, sent } = await call({ path: '/items/{id}/edit' }, { id });
    expect(errorOf(outcome)).toBe('invalid_argument: path_segment');
    expect(sent).toEqual([]);
  });

  it.each([{}, [], 'x\uD800'])('refuses %j where text is wanted', async (id) => {
    for (const config of [{ path: '/{id}' }, { query: { id: 'x{id}' } }, { headers: { id: '{id}' } }]) {
      expect(errorOf((await call(config, { id })).outcome)).toBe('invalid_argument: not_text');
    }
  });

  it('refuses a dot that template and input make together', async () => {
    expect(errorOf((await call({ path: '/a/.{id}/b' }, { id: '.' })).outcome)).toBe('invalid_argument: path_segment');
    expect((await call({ path: '/a/.{id}' }, { id: 'git' })).sent[0]?.url).toBe(`${home}/a/.git`);
  });

  it.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b'])('refuses %j in a header', async (id) => {
    const { outcome, sent } = await call({ headers: { 'x-id': '{id}' } }, { id });
    expect(errorOf(outcome)).toBe('invalid_argument: header_value');
    expect(sent).toEqual([]);
  });

  it('sends JSON with values as they are, and form data as text', async () => {
    const fields = { whole: '{list}', text: 'n={n}', n: '{n}', missing: '{missing}' };
    const one = await call({ method: 'POST', body: { fields } }, { list: [1, { a: 2 }], n: 3 });
    expect(JSON.parse(one.sent[0]?.body ?? '')).toEqual({ whole: [1, { a: 2 }], text: 'n=3', n: 3 });
    expect(one.sent[0]?.headers['content-type']).toBe('application/json');
    const form = { as: 'form' as const, fields: { n: '{n}', key: '{{secret:canary}}' } };
    const two = await call({ method: 'POST', body: form }, { n: '&' });
    expect(two.sent[0]?.body).toBe(`n=%26&key=${canary.reveal()}`);
    const three = await call({ method: 'POST', body: { as: 'form', fields: { key: '{{secret:canary}}' } } }, {});
    expect(three.sent[0]?.body).toBe(`key=${canary.reveal()}`);
  });

  it('checks the input by its schema', async () => {
    const paramsSchema = {
      type: 'object',
      properties: { id: { type: 'integer' } },
      required: ['id'],
      additionalProperties: false,
    };
    for (const input of [{}, { id: 'x' }, { id: 1, more: 2 }, [], 'x', null]) {
      expect(errorOf((await call({ path: '/{id}' }, input, { paramsSchema })).outcome)).toBe(
        'invalid_argument: invalid_data',
      );
    }
    expect((await call({ path: '/{id}' }, { id: 1 }, { paramsSchema })).outcome.ok).toBe(true);
  });

  it('reads no place in what it was given', async () => {
    const hostile = { a: '{b} {{secret:canary}}', b: 'B' };
    const { sent } = await call({
      method: 'POST',
      query: { a: '{a}' },
      headers: { a: '{a}' },
      body: { fields: { a: '{a}', t: '-{a}' } },
    }, hostile);
    expect(sent[0]?.headers['a']).toBe(hostile.a);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ a: hostile.a, t: `-${hostile.a}` });
    expect(JSON.stringify(sent)).not.toContain(canary.reveal());
  });

  it('takes nothing from the prototype of its input', async () => {
    const { sent } = await call({ query: { a: '{constructor}', b: '{__proto__}', c: '{toString}' } }, {});
    expect(sent[0]?.url).toBe(`${home}/`);
  });

  it('puts secrets into headers and fields, whatever the input says', async () => {
    const { sent, outcome } = await call(
      {
        method: 'POST',
        headers: { authorization: 'Bearer {{secret:canary}}' },
        body: { fields: { key: '{{secret:canary}}', a: '{a}' } },
      },
      { a: 1, key: 'mine', authorization: 'mine' },
    );
    expect(sent[0]?.headers['authorization']).toBe(`Bearer ${canary.reveal()}`);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ a: 1, key: canary.reveal() });
    expect(JSON.stringify(outcome)).not.toContain(canary.reveal());
  });

  it('sends nothing without a secret that it needs', async () => {
    const { outcome, sent } = await call({ headers: { authorization: '{{secret:canary}}' } }, {}, { secrets: {} });
    expect(errorOf(outcome)).toBe('forbidden: secret_not_given');
    expect(sent).toEqual([]);
  });

  it('takes no secret to where a redirect leads', async () => {
    const { sent } = await call(
      { headers: { authorization: '{{secret:canary}}' }, redirectOrigins: ['https://cdn.example.net'] },
      {},
      { answers: [redirect(302, 'https://cdn.example.net/x'), empty] },
    );
    expect(sent).toHaveLength(2);
    expect(JSON.stringify(sent[1])).not.toContain(canary.reveal());
  });
});

describe('createHttpTool, given an answer', () => {
  it('keeps the fields that the template names', async () => {
    const data = {
      total: 2,
      items: [{ id: 1, name: 'a', owner: { id: 9, key: 'k' } }, { id: 2, owner: null }, 3],
      rest: 'x',
    };
    const { outcome } = await call({ response: { fields: ['total', 'items.id', 'items.owner.id', 'none'] } }, {}, {
      answers: [json(data)],
    });
    expect(outcome).toMatchObject({
      output: { data: { total: 2, items: [{ id: 1, owner: { id: 9 } }, { id: 2, owner: null }, null] } },
    });
  });

  it('cuts what is too long, and says so', async () => {
    const long = await call({ response: { as: 'text', maxLength: 5 } }, {}, { answers: [text('1234🔑')] });
    expect(long.outcome).toMatchObject({ output: { data: '1234\uFFFD', truncated: true } });
    const list = await call({ response: { maxLength: 5 } }, {}, { answers: [json([1, 2, 3])] });
    expect(list.outcome).toMatchObject({ output: { data: '[1,2,', truncated: true } });
  });

  it('gives no own __proto__, and takes text for no JSON', async () => {
    const { outcome } = await call({}, {}, { answers: [() => new Response('{"__proto__":{"x":1},"a":1}')] });
    expect(JSON.stringify(outcome)).toContain('"data":{"a":1}');
    expect(errorOf((await call({}, {}, { answers: [text('<html>')] })).outcome)).toBe('unavailable: answer_not_json');
  });

  it.each([
    [400, 'invalid_argument'],
    [401, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
  ])('tells of status %i as %s, without what the server said', async (status, code) => {
    const answers = [text('echo of a secret', { status, headers: { 'retry-after': '7' } })];
    const { outcome } = await call({ retries: 0 }, {}, { answers });
    expect(outcome).toMatchObject({ error: { code, details: { reason: 'http_status', status }, retryAfterMs: 7000 } });
    expect(JSON.stringify(outcome)).not.toContain('echo');
  });
});

describe('createHttpTool, trying again', () => {
  const down = text('', { status: 503 });
  const busy = text('', { status: 429, headers: { 'retry-after': '1' } });

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'] as const)('tries an idempotent %s again', async (method) => {
    const waited: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
    const answers = [down, busy, () => new Response(null)];
    const { outcome, sent } = await call({ method }, {}, { answers, random: () => 0.5, wait });
    expect(outcome.ok).toBe(true);
    expect(sent).toHaveLength(3);
    expect(waited).toEqual([50, 1000]);
  });

  it.each(['POST', 'PATCH'] as const)(
    'never tries a %s again, and says when its effect is not known',
    async (method) => {
      for (const answers of [[down], [() => Promise.reject(new Error('reset'))]]) {
        const { outcome, sent } = await call({ method }, {}, { answers });
        expect(errorOf(outcome)).toBe('outcome_unknown: answer_lost');
        expect(sent).toHaveLength(1);
      }
      expect(errorOf((await call({ method }, {}, { answers: [busy] })).outcome)).toBe('rate_limited: http_status');
    },
  );

  it('gives up after as many times as the template says, and not on what would fail again', async () => {
    expect((await call({ retries: 1 }, {}, { answers: [down] })).sent).toHaveLength(2);
    expect((await call({}, {}, { answers: [text('', { status: 404 })] })).sent).toHaveLength(1);
  });
});

describe('createHttpTool, defined', () => {
  const { egress } = scriptedEgress([empty]);
  const make = (config: object, rest: Partial<HttpToolDefinition> = {}) => () =>
    createHttpTool(definition(config, rest), { egress });

  it.each([
    { origin: 'https://localhost' },
    { origin: 'https://10.0.0.1' },
    { origin: 'https://api.example.com/' },
    { origin: 'https://api.example.com/path' },
    { origin: 'https://{host}.example.com' },
    { origin: 'https://u:p@api.example.com' },
    { origin: 'ftp://api.example.com' },
    { redirectOrigins: ['https://metadata'] },
    { method: 'TRACE' },
    { method: 'get' },
    { path: 'items' },
    { path: '/a?b=c' },
    { path: '/{{secret:canary}}' },
    { query: { key: '{{secret:canary}}' } },
    { headers: { 'x y': '1' } },
    { body: { fields: { 'a\nb': '1' } } },
    { retries: 99 },
    { unknown: 1 },
  ])('refuses the template %j', (config) => {
    expect(make(config)).toThrow('Cannot read the template of tool "call"');
  });

  it('refuses a secret that its definition does not list, and a schema that is none', () => {
    expect(make({ headers: { a: '{{secret:other}}' } })).toThrow(
      'Cannot define tool "call": its template uses the secret "other", which its "secrets" must list',
    );
    expect(make({}, { paramsSchema: { type: 'thing' } })).toThrow('Cannot use the JSON Schema');
  });

  it('is of type http', () => {
    expect(make({})().definition).toMatchObject({ id: 'call', name: 'call', type: 'http', config: { origin: home } });
  });
});

describe('needsApproval', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'] as const)('lets a %s go', (method) => {
    expect(needsApproval({ method, autoApprove: false })).toBe(false);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'asks for a %s, unless the template says otherwise',
    (method) => {
      expect(needsApproval({ method, autoApprove: false })).toBe(true);
      expect(needsApproval({ method, autoApprove: true })).toBe(false);
    },
  );
});
