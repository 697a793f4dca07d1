import { describe, expect, it } from 'vitest';
import {
  both,
  canary,
  failure,
  get,
  home,
  post,
  reasonOf,
  redirect,
  scriptedEgress,
  terms,
  text,
} from '../../fixtures/egress.ts';
import cases from '../../fixtures/vectors/ssrf-cases.json' with { type: 'json' };

const elsewhere = 'https://files.example.net';
const bearer = { secretHeaders: { authorization: ['Bearer ', canary] } };

describe('guardedFetch, redirected', () => {
  it.each(cases.redirects)('refuses a $why', async ({ chain }) => {
    const [first = '', ...rest] = chain;
    const { egress, sent } = scriptedEgress([...rest.map((url) => redirect(302, url)), text('reached')], both);
    const work = egress.fetch(get(first), terms({ origins: ['https://example.com'], ...bearer }));
    expect((await failure(work)).code).toBe('forbidden');
    expect(sent.every(({ url }) => url.startsWith('https://example.com/'))).toBe(true);
  });

  it.each([
    ['/mcp/', '/mcp/'],
    [`${home}/v2/mcp?key=1`, '/v2/mcp'],
    ['/a%20b', '/a%20b'],
    [`${elsewhere}/mcp/`, undefined],
    [`/${'x'.repeat(300)}`, undefined],
  ])('names the path of a refused redirect to %s where it stays at its origin', async (to, location) => {
    const { egress } = scriptedEgress([redirect(307, to)]);
    const origins = [home, elsewhere];
    const refused = egress.fetch(new Request(home), terms({ redirects: 'refuse', origins }));
    const error = await failure(refused);
    expect([error.code, error.details]).toEqual(['forbidden', {
      reason: 'redirect_refused',
      ...(location && { location }),
    }]);
  });

  // A browser sends its own cookies, and shows no code those of a server.
  it.skipIf('document' in globalThis)('sends cookies to their own origin alone', async () => {
    const cookies = new Map<string, string>();
    const set = () => new Response('', { headers: { 'set-cookie': 'node=a; Path=/', 'content-type': 'text/plain' } });
    const { egress, sent } = scriptedEgress([set, redirect(302, `${elsewhere}/b`), set, text('')]);
    const origins = [home, elsewhere];
    await egress.fetch(get(home), terms({ origins, cookies }));
    await egress.fetch(get(home), terms({ origins, cookies }));
    await egress.fetch(get(home), terms({ origins }));
    expect(sent.map(({ url, headers }) => [new URL(url).origin, headers['cookie']])).toEqual([
      [home, undefined],
      [home, 'node=a'],
      [elsewhere, undefined],
      [home, undefined],
    ]);
  });

  it('follows five redirects at its origin, with its headers and secrets', async () => {
    const hops = [1, 2, 3, 4, 5].map((i) => redirect(302, `/${i}`));
    const { egress, sent } = scriptedEgress([...hops, text('reached')]);
    const answer = await egress.fetch(get(`${home}/0`, { headers: { 'x-own': '1' } }), terms(bearer));
    expect(await answer.text()).toBe('reached');
    expect(sent.map(({ url }) => url)).toEqual([0, 1, 2, 3, 4, 5].map((i) => `${home}/${i}`));
    expect(sent.at(-1)?.headers).toEqual({ 'x-own': '1', authorization: `Bearer ${canary.reveal()}` });
  });

  it('follows no loop', async () => {
    const { egress, sent } = scriptedEgress([redirect(302, `${home}/a`)]);
    expect(await reasonOf(egress.fetch(get(`${home}/a`), terms()))).toBe('forbidden: redirect_refused');
    expect(sent).toHaveLength(6);
  });

  it('follows none where the terms say so, not even at its origin', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { egress, sent } = scriptedEgress([redirect(status, '/1'), text('reached')]);
      const work = egress.fetch(post('{}'), terms({ redirects: 'refuse' }));
      expect(await reasonOf(work)).toBe('forbidden: redirect_refused');
      expect(sent).toHaveLength(1);
    }
  });

  it('takes neither secrets nor headers to another origin, nor back from there', async () => {
    const other = 'https://cdn.example.net';
    const hops = [redirect(302, `${other}/b`), redirect(307, `${home}/c`), redirect(302, '/d'), text('reached')];
    const { egress, sent } = scriptedEgress(hops);
    const request = get(`${home}/a`, { headers: { 'x-own': '1', accept: 'text/plain', 'x-api-key': 'k' } });
    await egress.fetch(request, terms({ origins: [home, other], ...bearer }));
    expect(sent.map(({ headers }) => headers).slice(1)).toEqual([1, 2, 3].map(() => ({ accept: 'text/plain' })));
    expect(JSON.stringify(sent.slice(1))).not.toContain(canary.reveal());
  });

  it('never goes from https to http', async () => {
    const { egress, sent } = scriptedEgress([redirect(302, 'http://api.example.com/')], both);
    const work = egress.fetch(get(home), terms({ origins: [home, 'http://api.example.com'] }));
    expect(await reasonOf(work)).toBe('forbidden: redirect_refused');
    expect(sent).toHaveLength(1);
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('follows none of a %s', async (method) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { egress, sent } = scriptedEgress([redirect(status, '/b'), text('reached')]);
      expect(await reasonOf(egress.fetch(get(`${home}/a`, { method }), terms()))).toBe('forbidden: redirect_refused');
      expect(sent).toHaveLength(1);
    }
  });

  it.each([301, 302, 303])('goes on after a %i of a POST as a GET without body', async (status) => {
    const { egress, sent } = scriptedEgress([redirect(status, '/b'), text('reached')]);
    await egress.fetch(post('{}'), terms());
    expect(sent[1]).toEqual({ url: `${home}/b`, method: 'GET', headers: {}, body: '' });
  });

  it.each([307, 308])('repeats a POST after a %i at its own origin only', async (status) => {
    const { egress, sent } = scriptedEgress([redirect(status, '/b'), text('reached')]);
    await egress.fetch(post('{"a":1}'), terms());
    expect(sent[1]).toMatchObject({ method: 'POST', body: '{"a":1}' });
    const other = 'https://cdn.example.net';
    const away = scriptedEgress([redirect(status, `${other}/b`), text('reached')]);
    const work = away.egress.fetch(post('{"a":1}'), terms({ origins: [home, other] }));
    expect(await reasonOf(work)).toBe('forbidden: redirect_refused');
    expect(away.sent).toHaveLength(1);
  });

  it('takes a redirect that names no place for the answer', async () => {
    const { egress } = scriptedEgress([() => new Response(null, { status: 302 })]);
    expect((await egress.fetch(get(home), terms())).status).toBe(302);
  });
});
