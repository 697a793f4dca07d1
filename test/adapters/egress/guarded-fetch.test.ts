import { describe, expect, it } from 'vitest';
import { readText } from '../../../src/base/read-text.ts';
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

const bearer = { secretHeaders: { authorization: ['Bearer ', canary] } };

describe('guardedFetch', () => {
  it('sends to a listed origin and returns the response', async () => {
    const { egress, sent } = scriptedEgress([
      text('hello', { headers: { etag: '"1"', 'set-cookie': 'a=b', server: 'x' } }),
    ]);
    const answer = await egress.fetch(get(`${home}/a?b=c#d`, { headers: { 'x-own': '1' } }), terms());
    expect(await answer.text()).toBe('hello');
    expect(Object.fromEntries(answer.headers)).toEqual({ 'content-type': 'text/plain;charset=UTF-8', etag: '"1"' });
    expect(sent).toEqual([{ url: `${home}/a?b=c`, method: 'GET', headers: { 'x-own': '1' }, body: '' }]);
  });

  it('sends nothing to an origin that is not listed, nor to one that is not public', async () => {
    const { egress, sent } = scriptedEgress([text('')], both);
    expect(await reasonOf(egress.fetch(get('https://example.org/'), terms()))).toBe('forbidden: url_refused');
    for (const { url } of cases.refuse.filter((one) => URL.canParse(one.url) && !/@/.test(one.url))) {
      const request = Object.defineProperty(get(home), 'url', { value: url }); // as no `Request` would hold it
      expect(await reasonOf(egress.fetch(request, terms({ origins: 'any' })))).toBe('forbidden: url_refused');
    }
    expect(sent).toEqual([]);
  });

  it('sends plain http only where the terms allow it', async () => {
    const { egress } = scriptedEgress([text('')]);
    const error = await failure(
      egress.fetch(get('http://api.example.com/'), terms({ origins: ['http://api.example.com'] })),
    );
    expect(error.details).toEqual({ reason: 'url_refused', rule: 'scheme_not_allowed' });
  });

  it.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'metadata-flavor', 'x-aws-ec2-metadata-token', 'traceparent'])(
    'refuses the request header %s',
    async (name) => {
      const { egress, sent } = scriptedEgress([text('')]);
      const request = get(home, { headers: { [name]: 'x' } });
      expect(await reasonOf(egress.fetch(request, terms()))).toBe('invalid_argument: header_not_allowed');
      expect(await reasonOf(egress.fetch(get(home), terms({ secretHeaders: { [name]: [canary] } })))).toBe(
        'invalid_argument: header_not_allowed',
      );
      expect(sent).toEqual([]);
    },
  );

  it.each(['image/png', 'application/octet-stream', 'application/pdf', ''])(
    'refuses a body of type "%s"',
    async (type) => {
      const { egress } = scriptedEgress([text('x', { headers: { 'content-type': type } })]);
      expect(await reasonOf(egress.fetch(get(home), terms()))).toBe('unavailable: content_type');
    },
  );

  it('reads a body without a type that starts as JSON, and no other', async () => {
    const bodies = [' {"a":1}', '<p>', 'x'].map((body) => () => new Response(new TextEncoder().encode(body)));
    const { egress } = scriptedEgress(bodies);
    const read = async () => await readText((await egress.fetch(get(home), terms())).body);
    expect(await read()).toBe(' {"a":1}');
    for (const _ of [1, 2]) expect(await reasonOf(read())).toBe('unavailable: content_type');
  });

  it.each(['application/json', 'application/problem+json; charset=utf-8', 'text/event-stream', 'application/xml'])(
    'gives a body of type %s',
    async (type) => {
      const { egress } = scriptedEgress([text('x', { headers: { 'content-type': type } })]);
      expect(await (await egress.fetch(get(home), terms())).text()).toBe('x');
    },
  );

  it('takes an answer of any status for an answer', async () => {
    const { egress } = scriptedEgress([text('{}', { status: 404 })]);
    expect((await egress.fetch(get(home), terms())).status).toBe(404);
  });

  it('takes an answer that only says that the request was taken, without a type', async () => {
    const { egress } = scriptedEgress([() => new Response(new Blob([]).stream(), { status: 202 })]);
    const answer = await egress.fetch(get(home), terms());
    expect([answer.status, await answer.text()]).toEqual([202, '']);
  });

  it('counts the body while it is read, whatever its length says', async () => {
    const headers = { 'content-length': '3', 'content-type': 'text/plain' };
    const { egress } = scriptedEgress([text('x'.repeat(1025), { headers })]);
    const answer = await egress.fetch(get(home), terms());
    expect(await reasonOf(readText(answer.body))).toBe('budget_exceeded: response_too_large');
    expect(await (await egress.fetch(get(home), terms({ maxBytes: 1025 }))).text()).toHaveLength(1025);
  });

  it('refuses headers that are too long', async () => {
    const { egress } = scriptedEgress([text('', { headers: { 'x-long': 'x'.repeat(16_384) } })]);
    expect(await reasonOf(egress.fetch(get(home), terms()))).toBe('unavailable: headers_too_large');
  });
});

describe('guardedFetch, for media', () => {
  const answer = (type: string) => text('x', { headers: { 'content-type': type } });

  it.each(['image/png', 'image/svg+xml', 'audio/mpeg', 'application/pdf', 'application/octet-stream', 'text/csv'])(
    'reads %s, for the caller to check the content',
    async (type) => {
      const { egress } = scriptedEgress([answer(type)]);
      expect(await (await egress.fetch(get(home), terms({ accept: 'media' }))).text()).toBe('x');
    },
  );

  it.each(['application/x-msdownload', 'application/zip', 'video/mp4', 'font/woff2'])('reads no %s', async (type) => {
    const { egress } = scriptedEgress([answer(type)]);
    const asked = egress.fetch(get(home), terms({ accept: 'media' }));
    expect(await reasonOf(asked)).toBe('unavailable: content_type');
  });

  it('reads no image that was not asked for', async () => {
    const { egress } = scriptedEgress([answer('image/png')]);
    expect(await reasonOf(egress.fetch(get(home), terms()))).toBe('unavailable: content_type');
  });
});

describe('guardedFetch, on this machine', () => {
  const local = 'http://127.0.0.1:3001';

  it('reaches a listed server where the request names it, and no other', async () => {
    const { egress, sent } = scriptedEgress([text('hello')], { loopback: [local] });
    expect(await (await egress.fetch(get(`${local}/mcp`), terms({ origins: [local] }))).text()).toBe('hello');
    expect(await reasonOf(egress.fetch(get(local), terms()))).toBe('forbidden: url_refused');
    expect(await reasonOf(egress.fetch(get(local), terms({ origins: 'any' })))).toBe('forbidden: url_refused');
    const neighbour = 'http://127.0.0.1:3002';
    expect(await reasonOf(egress.fetch(get(neighbour), terms({ origins: [neighbour] })))).toBe(
      'forbidden: url_refused',
    );
    expect(sent.map(({ url }) => url)).toEqual([`${local}/mcp`]);
  });

  it('follows no redirect to a private host with credentials that its sender chose', async () => {
    const inside = 'https://10.1.2.3';
    const hops = [redirect(302, 'https://admin:admin@10.1.2.3/'), text('hello')];
    const { egress, sent } = scriptedEgress(hops, { privateOrigins: [inside] });
    expect(await reasonOf(egress.fetch(get(home), terms({ origins: [home, inside] })))).toBe('forbidden: url_refused');
    expect(sent).toHaveLength(1);
  });

  it('follows no redirect there from elsewhere', async () => {
    const { egress, sent } = scriptedEgress([redirect(302, local), text('hello')], { loopback: [local] });
    expect(await reasonOf(egress.fetch(get(home), terms()))).toBe('forbidden: url_refused');
    expect(sent).toHaveLength(1);
  });

  it.each(['http://localhost:3001', 'http://127.0.0.1:3001/', 'http://10.0.0.1', 'https://example.com', 'x'])(
    'takes no "%s" for an origin of this machine',
    (origin) => {
      expect(() => scriptedEgress([], { loopback: [origin] })).toThrow(/such as "http:\/\/127\.0\.0\.1:3001"/);
    },
  );
});

describe('guardedFetch, where the composition allows private origins', () => {
  const model = 'http://10.1.2.3:8000';

  it('reaches an allowed private origin that the request lists, and no other', async () => {
    const { egress, sent } = scriptedEgress([text('hello')]);
    const allowed = terms({ origins: [model], privateOrigins: [model] });
    expect(await (await egress.fetch(get(`${model}/v1`), allowed)).text()).toBe('hello');
    for (const inside of ['http://10.1.2.3:8001', 'http://169.254.169.254', 'http://[::1]:22', 'http://localhost']) {
      const listed = terms({ origins: [inside], privateOrigins: [model] });
      expect(await reasonOf(egress.fetch(get(inside), listed)), inside).toBe('forbidden: url_refused');
    }
    expect(await reasonOf(egress.fetch(get(model), terms({ privateOrigins: [model] })))).toBe('forbidden: url_refused');
    expect(await reasonOf(egress.fetch(get(model), terms({ origins: 'any', privateOrigins: [model] })))).toBe(
      'forbidden: url_refused',
    );
    expect(sent.map(({ url }) => url)).toEqual([`${model}/v1`]);
  });

  it('takes "loopback" for every port of this machine, and for nothing else', async () => {
    const { egress } = scriptedEgress([text('hello')]);
    const reach = (origin: string) =>
      egress.fetch(get(origin), terms({ origins: [origin], privateOrigins: ['loopback'] }));
    for (
      const origin of ['http://127.0.0.1:11434', 'http://localhost:1234', 'http://[::1]:8080', 'https://localhost']
    ) {
      expect((await reach(origin)).status, origin).toBe(200);
    }
    for (
      const origin of ['http://10.0.0.1', 'http://127.0.0.2', 'http://localhost.example.com', 'http://api.localhost']
    ) {
      expect(await reasonOf(reach(origin)), origin).toBe('forbidden: url_refused');
    }
  });

  it.each(['http://127.0.0.1:3001/', 'file:///etc', '*', '', 'localhost:11434'])(
    'takes no "%s" for an origin',
    async (origin) => {
      const { egress } = scriptedEgress([text('hello')]);
      expect(await reasonOf(egress.fetch(get(home), terms({ privateOrigins: [origin] })))).toBe(
        'invalid_argument: invalid_private_origin',
      );
    },
  );

  it('names the host of a listed origin that does not answer, and none where any origin goes', async () => {
    const { egress } = scriptedEgress([() => Promise.reject(new TypeError('no network'))]);
    expect((await failure(egress.fetch(get(home), terms()))).message).toContain(
      'its host "api.example.com" did not answer',
    );
    expect((await failure(egress.fetch(get(home), terms({ origins: 'any' })))).message).not.toContain(
      'api.example.com',
    );
  });

  it('leaves time, load and failures to a caller that limits them itself', async () => {
    const { egress, sent } = scriptedEgress([text('no', { status: 500 })], {
      circuit: { failures: 2, concurrency: 2 },
    });
    const calls = Array.from({ length: 8 }, () => egress.fetch(get(home), terms({ limits: 'caller' })));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(8).fill(500));
    expect(sent).toHaveLength(8);
  });

  it('rejects with the reason of an abort, where the caller limits its calls itself', async () => {
    const { egress } = scriptedEgress([() => new Promise<Response>(() => undefined)]);
    const stop = new AbortController();
    const call = egress.fetch(get(home), terms({ limits: 'caller', signal: stop.signal }));
    const reason = new DOMException('too slow', 'TimeoutError');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});

describe('guardedFetch, with secrets', () => {
  it('puts them into header values and named fields of a JSON body', async () => {
    const { egress, sent } = scriptedEgress([text('')]);
    await egress.fetch(post('{"a":1,"key":"from the model"}'), terms({ ...bearer, secretFields: { key: [canary] } }));
    expect(sent[0]?.headers['authorization']).toBe(`Bearer ${canary.reveal()}`);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ a: 1, key: canary.reveal() });
  });

  it('puts them into form data', async () => {
    const { egress, sent } = scriptedEgress([text('')]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await egress.fetch(post('a=1&key=x&key=y', { headers }), terms({ secretFields: { key: [canary] } }));
    expect(sent[0]?.body).toBe(`a=1&key=${canary.reveal()}`);
  });

  it('refuses a body that has no fields', async () => {
    for (const body of ['[1]', 'null', '"x"', '{"a"']) {
      const { egress, sent } = scriptedEgress([text('')]);
      const work = egress.fetch(post(body), terms({ secretFields: { key: [canary] } }));
      expect(await reasonOf(work)).toBe('invalid_argument: body_not_fields');
      expect(sent).toEqual([]);
    }
  });

  it('sends none where any origin is allowed', async () => {
    const { egress, sent } = scriptedEgress([text('')]);
    const work = egress.fetch(get(home), terms({ origins: 'any', ...bearer }));
    expect(await reasonOf(work)).toBe('invalid_argument: secrets_need_origins');
    expect(sent).toEqual([]);
  });

  it.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b', 'ключ-0123'])(
    'refuses a header value of %j and does not repeat it',
    async (value) => {
      const { egress, sent } = scriptedEgress([text('')]);
      const error = await failure(egress.fetch(get(home), terms({ secretHeaders: { 'x-key': [value] } })));
      expect(error.details).toEqual({ reason: 'header_value' });
      expect(error.message).not.toContain(value);
      expect(sent).toEqual([]);
    },
  );
});

const never = (): Promise<Response> => new Promise(() => {});
const drip = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }), {
    headers: { 'content-type': 'text/plain' },
  });

describe('guardedFetch, in time', () => {
  it('gives up on a host that does not answer', async () => {
    const { egress } = scriptedEgress([never]);
    expect((await failure(egress.fetch(get(home), terms({ timeoutMs: 5 })))).code).toBe('deadline_exceeded');
  });

  it('gives up on a body that does not end', async () => {
    const { egress } = scriptedEgress([drip]);
    const answer = await egress.fetch(get(home), terms({ timeoutMs: 100 }));
    expect((await failure(readText(answer.body))).code).toBe('deadline_exceeded');
  });

  it('ends with its caller, before the answer and after', async () => {
    const before = new AbortController();
    const silent = scriptedEgress([() => (before.abort(), never())]);
    const work = silent.egress.fetch(get(home), terms({ signal: before.signal }));
    expect((await failure(work)).code).toBe('cancelled');
    const after = new AbortController();
    const { egress, sent } = scriptedEgress([drip]);
    const answer = await egress.fetch(get(home), terms({ signal: after.signal }));
    after.abort();
    expect((await failure(readText(answer.body))).code).toBe('cancelled');
    expect((await failure(egress.fetch(get(home), terms({ signal: after.signal })))).code).toBe('cancelled');
    expect(sent).toHaveLength(1);
  });

  it('reports a host that cannot be reached without repeating what the platform says', async () => {
    const { egress } = scriptedEgress([() => Promise.reject(new Error(`broken at ${canary.reveal()}`))]);
    const error = await failure(egress.fetch(get(home), terms()));
    expect(error).toMatchObject({ code: 'unavailable', retryable: true, details: { reason: 'unreachable' } });
    expect(error.message).not.toContain(canary.reveal());
  });
});

const elsewhere = 'https://files.example.net';

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
