import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { authenticateByScheme } from '../../../adapters/transport/by-scheme.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import {
  type CallerFacts,
  sessionAuthenticator,
  type SessionAuthenticatorOptions,
} from '../../../adapters/transport/session-authenticator.ts';
import { createRuntime } from '../../../src/index.ts';

const runtime = createRuntime({
  catalog: staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'main' }],
    providers: [{ id: 'main', kind: 'rehearsal' }],
  }),
  storage: memoryStorage(),
  models: { model: () => rehearsal({ delayMs: 0 }) },
});
const ada: CallerFacts = { tenant: 'shop', subject: 'ada', agents: ['helper'], scopes: ['run:create'] };
const signedIn = 'theme=dark; shop-session=s%201; other="q"';

function authenticate(
  { method = 'POST', headers = {}, url = 'https://agents.shop.example/v1/runs', ...options }:
    & { method?: string; headers?: Record<string, string>; url?: string }
    & Partial<SessionAuthenticatorOptions> = {},
) {
  const { lookup = ({ cookies }) => (cookies['shop-session'] === 's 1' ? ada : undefined) } = options;
  const request = new Request(url, { method, headers: { cookie: signedIn, ...headers } });
  return sessionAuthenticator({ lookup, ...options }).authenticate(request);
}

const own = { origin: 'https://agents.shop.example' };
const shop = 'https://shop.example';

describe('sessionAuthenticator', () => {
  it('returns whom the session stands for', async () => {
    expect(await authenticate({ headers: own })).toEqual({ via: 'http', ...ada });
  });

  it('gives the lookup every cookie by its name, and all headers', async () => {
    let seen: unknown;
    const lookup: SessionAuthenticatorOptions['lookup'] = ({ cookies, headers }) => {
      seen = [...Object.entries(cookies), ['agent', headers.get('user-agent')]];
      return ada;
    };
    const cookie = 'a=1; b=two=2; a=later; __proto__=x; broken=%E0%A4%A; quoted="q"; nameless; =v';
    await authenticate({ lookup, headers: { ...own, cookie, 'user-agent': 'browser' } });
    expect(seen).toEqual([
      ['a', '1'],
      ['b', 'two=2'],
      ['__proto__', 'x'],
      ['broken', '%E0%A4%A'],
      ['quoted', 'q'],
      ['agent', 'browser'],
    ]);
  });

  it.each<[string, string, Record<string, string>, readonly string[]]>([
    ['the endpoint’s own page', 'POST', own, []],
    ['a request that the browser calls same-origin', 'DELETE', { 'sec-fetch-site': 'same-origin' }, []],
    ['a listed page', 'POST', { origin: shop, 'sec-fetch-site': 'same-site' }, [shop]],
    ['a read without an origin', 'GET', {}, []],
    ['an address that a person has typed', 'GET', { 'sec-fetch-site': 'none' }, []],
  ])('lets through %s', async (_, method, headers, origins) => {
    await expect(authenticate({ method, headers, origins })).resolves.toMatchObject({ subject: 'ada' });
  });

  it.each(['http', 'https'])('lets its own page over %s through behind a proxy that ends TLS', async (scheme) => {
    const request = {
      url: 'http://agents.shop.example/v1/runs',
      headers: { origin: `${scheme}://agents.shop.example` },
    };
    await expect(authenticate(request)).resolves.toMatchObject({ subject: 'ada' });
  });

  it.each<[string, string, Record<string, string>, readonly string[]]>([
    ['another site', 'POST', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, [shop]],
    ['a sibling that is not listed', 'POST', { origin: shop, 'sec-fetch-site': 'same-site' }, []],
    ['a sibling’s read', 'GET', { 'sec-fetch-site': 'same-site' }, []],
    ['another site’s read', 'GET', { 'sec-fetch-site': 'cross-site' }, []],
    ['a page without an origin of its own', 'POST', { origin: 'null' }, []],
    ['a change that does not say where it is from', 'POST', {}, []],
    ['its own name over plain http', 'POST', { origin: 'http://agents.shop.example' }, []],
    ['another port', 'POST', { origin: 'https://agents.shop.example:8443' }, []],
    ['an origin that ends as ours does', 'POST', { origin: 'https://evil-agents.shop.example' }, []],
  ])('refuses %s', async (_, method, headers, origins) => {
    const message = expect.stringContaining(Object.keys(headers).length > 0 ? 'list' : 'header') as string;
    await expect(authenticate({ method, headers, origins }))
      .rejects.toMatchObject({ code: 'forbidden', status: 403, details: { reason: 'foreign_origin' }, message });
  });

  it.each([['only other cookies come', 'theme=dark'], ['the session is unknown', 'shop-session=s-2'], [
    'no cookie',
    '',
  ]])(
    'asks to sign in where %s, in the same words',
    async (_, cookie) => {
      await expect(authenticate({ headers: { ...own, cookie } })).rejects.toMatchObject({
        code: 'authentication_required',
        status: 401,
        message: 'Sign in: the request has no session of this app',
        details: { reason: 'no_session' },
      });
    },
  );

  it('does not let anyone in while sessions cannot be looked up, and keeps the cause', async () => {
    const lookup = () => Promise.reject(new Error('connection refused'));
    await expect(authenticate({ lookup, headers: own })).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'session_lookup_failed' },
      cause: new Error('connection refused'),
    });
  });

  it.each<[field: string, wrong: object]>([
    ['tenant', { tenant: 'undefined' }],
    ['subject', { subject: '' }],
    ['agents', { agents: ['*'] }],
    ['actFor', { actFor: ['*:shop'] }],
  ])('refuses a session with a wrong %s', async (field, wrong) => {
    await expect(authenticate({ lookup: () => ({ ...ada, ...wrong }), headers: own }))
      .rejects.toMatchObject({ details: { reason: 'invalid_principal', field } });
  });

  it('refuses an unknown option', () => {
    expect(() => sessionAuthenticator(Object.assign({ lookup: () => ada }, { cookie: 's' }))).toThrow('"cookie"');
  });

  it('acts for others only where the session says so', async () => {
    const headers = { ...own, 'pinnace-subject': 'group:42' };
    await expect(authenticate({ headers })).rejects.toMatchObject({ details: { reason: 'not_delegated' } });
    await expect(authenticate({ headers, lookup: () => ({ ...ada, actFor: ['group:*'] }) }))
      .resolves.toMatchObject({ subject: 'group:42', actor: 'ada' });
  });

  it.each(['*', 'https://shop.example/', 'shop.example'])('refuses "%s" as an origin', (origin) => {
    expect(() => sessionAuthenticator({ lookup: () => ada, origins: [origin] })).toThrow(`"${origin}" is no origin`);
  });
});

describe('an endpoint with sessions', () => {
  const handler = createHandler(runtime, {
    authenticator: authenticateByScheme({
      Bearer: { authenticate: () => Promise.reject(new Error('no bearer here')) },
      Cookie: sessionAuthenticator({ lookup: () => ({ ...ada, scopes: ['run:create', 'run:read'] }), origins: [shop] }),
    }),
    origins: [shop],
  });
  const client = (from: string) =>
    createClient({
      url: 'https://agents.shop.example',
      agentId: 'helper',
      credentials: { cookies: true },
      async fetch(request) {
        expect(request.credentials).toBe('include'); // the browser adds what follows
        const headers = new Headers(request.headers);
        headers.set('origin', from);
        return await handler(new Request(request, { headers }));
      },
    });

  it('runs for the person who is signed in, from a listed page', async () => {
    const chat = {
      id: 'c1',
      messages: [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }],
    };
    const chunks = await Array.fromAsync(await client(shop).run({ agentId: 'helper', chat }));
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    await expect(client('https://evil.example').run({ agentId: 'helper', chat }))
      .rejects.toMatchObject({ code: 'forbidden' });
  });

  it('lets listed pages send cookies, and no others', async () => {
    const preflight = (origin: string) =>
      handler(
        new Request('https://agents.shop.example/v1/runs', {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        }),
      );
    const listed = await preflight(shop);
    expect(listed.headers.get('access-control-allow-origin')).toBe(shop);
    expect(listed.headers.get('access-control-allow-credentials')).toBe('true');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });
});
