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
