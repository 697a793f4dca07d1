import { describe, expect, it } from 'vitest';
import { canary, home, redirect } from '../../../fixtures/egress.ts';
import { call, empty, errorOf, json } from '../../../fixtures/tools/http-tool.ts';

describe('createHttpTool', () => {
  it("fills in path, query and headers, and returns the server's answer as untrusted text", async () => {
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

  it.each(['.', '..', '', 'a/../b', '..\\x', '%2e%2E', './x', undefined, null])(
    'refuses %j in a path',
    async (id) => {
      const { outcome, sent } = await call({ path: '/items/{id}/edit' }, { id });
      expect(errorOf(outcome)).toBe('invalid_argument: path_segment');
      expect(sent).toEqual([]);
    },
  );

  it.each([{}, [], 'x\uD800'])('refuses %j where text is wanted', async (id) => {
    for (const config of [{ path: '/{id}' }, { query: { id: 'x{id}' } }, { headers: { id: '{id}' } }]) {
      expect(errorOf((await call(config, { id })).outcome)).toBe('invalid_argument: not_text');
    }
  });

  it('refuses a dot of the template, alone or with one of the input', async () => {
    expect(errorOf((await call({ path: '/a/../b' }, {})).outcome)).toBe('invalid_argument: path_segment');
    expect(errorOf((await call({ path: '/a/%2E%2e/b' }, {})).outcome)).toBe('invalid_argument: path_segment');
    expect(errorOf((await call({ path: '/a/.{id}/b' }, { id: '.' })).outcome)).toBe('invalid_argument: path_segment');
    expect((await call({ path: '/a/.{id}' }, { id: 'git' })).sent[0]?.url).toBe(`${home}/a/.git`);
  });

  it.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b'])('refuses %j in a header', async (id) => {
    const { outcome, sent } = await call({ headers: { 'x-id': '{id}' } }, { id });
    expect(errorOf(outcome)).toBe('invalid_argument: header_value');
    expect(sent).toEqual([]);
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
