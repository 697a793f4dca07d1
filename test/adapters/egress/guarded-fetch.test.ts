import { describe, expect, it } from 'vitest';
import { PinnaceError } from '../../../src/errors.ts';
import { readText } from '../../../src/read-text.ts';
import { canary, home, redirect, scriptedEgress, terms, text } from '../../fixtures/egress.ts';
import cases from '../../fixtures/vectors/ssrf-cases.json' with { type: 'json' };

const get = (url: string, init: RequestInit = {}): Request => new Request(url, init);
const post = (body: string, init: RequestInit = {}): Request =>
  new Request(`${home}/a`, { method: 'POST', body, headers: { 'content-type': 'application/json' }, ...init });
const both = { schemes: ['http', 'https'] as const };
const bearer = { secretHeaders: { authorization: ['Bearer ', canary] } };

async function failure(work: Promise<unknown>): Promise<PinnaceError> {
  const error = await work.then(() => undefined, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(PinnaceError);
  return error as PinnaceError;
}

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  const { code, details } = await failure(work);
  return `${code}: ${String(details?.['reason'])}`;
}

describe('guardedFetch', () => {
  it('sends to a listed origin and gives the answer', async () => {
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

  it('needs to be asked for plain http', async () => {
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

describe('guardedFetch, redirected', () => {
  it.each(cases.redirects)('refuses a $why', async ({ chain }) => {
    const [first = '', ...rest] = chain;
    const { egress, sent } = scriptedEgress([...rest.map((url) => redirect(302, url)), text('reached')], both);
    const work = egress.fetch(get(first), terms({ origins: ['https://example.com'], ...bearer }));
    expect((await failure(work)).code).toBe('forbidden');
    expect(sent.every(({ url }) => url.startsWith('https://example.com/'))).toBe(true);
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

  it('takes neither secrets nor headers to another origin, nor back from there', async () => {
    const other = 'https://cdn.example.net';
    const { egress, sent } = scriptedEgress([redirect(302, `${other}/b`), redirect(307, `${home}/c`), text('reached')]);
    const request = get(`${home}/a`, { headers: { 'x-own': '1', accept: 'text/plain', 'x-api-key': 'k' } });
    await egress.fetch(request, terms({ origins: [home, other], ...bearer }));
    expect(sent.map(({ headers }) => headers).slice(1)).toEqual([{ accept: 'text/plain' }, { accept: 'text/plain' }]);
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
    const answer = await egress.fetch(get(home), terms({ timeoutMs: 5 }));
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

  it('tells of a host that cannot be reached without repeating what the platform says', async () => {
    const { egress } = scriptedEgress([() => Promise.reject(new Error(`broken at ${canary.reveal()}`))]);
    const error = await failure(egress.fetch(get(home), terms()));
    expect(error).toMatchObject({ code: 'unavailable', retryable: true, details: { reason: 'unreachable' } });
    expect(error.message).not.toContain(canary.reveal());
  });
});

describe('guardedFetch, with a circuit per origin', () => {
  const down = text('', { status: 503 });

  it('leaves an origin alone that failed five times in a row, and only that one', async () => {
    const other = 'https://other.example.com';
    const { egress, sent } = scriptedEgress([down]);
    const origins = [home, other];
    for (let i = 0; i < 5; i++) await egress.fetch(get(home), terms({ origins }));
    expect(await reasonOf(egress.fetch(get(home), terms({ origins })))).toBe('unavailable: dependency_unavailable');
    expect((await egress.fetch(get(other), terms({ origins }))).status).toBe(503);
    expect(sent).toHaveLength(6);
  });

  it('tries again after a while', async () => {
    const { egress } = scriptedEgress([down, down, text('up again')], { circuit: { failures: 2, openMs: 0 } });
    await egress.fetch(get(home), terms());
    await egress.fetch(get(home), terms());
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('up again');
  });

  it('does not blame an origin for what a tool asked wrongly', async () => {
    const { egress } = scriptedEgress([text('', { status: 404 })]);
    for (let i = 0; i < 10; i++) expect((await egress.fetch(get(home), terms())).status).toBe(404);
  });

  it('lets only so many calls at a time through, until their bodies end', async () => {
    const { egress } = scriptedEgress([text('first')], { circuit: { concurrency: 1 } });
    const first = await egress.fetch(get(home), terms());
    const error = await failure(egress.fetch(get(home), terms()));
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000, details: { reason: 'too_many_calls' } });
    await first.text();
    const second = await egress.fetch(get(home), terms());
    await second.body?.cancel();
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('first');
  });

  it('frees the slot of an answer that no one reads when its time is up', async () => {
    const { egress } = scriptedEgress([text('first')], { circuit: { concurrency: 1 } });
    const own = new AbortController();
    await egress.fetch(get(home), terms({ signal: own.signal }));
    own.abort();
    expect(await (await egress.fetch(get(home), terms())).text()).toBe('first');
  });
});
