import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { type Browser, chromium as browserType, type Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { denoEgress } from '../../../adapters/egress/deno.ts';
import { createNodeEndpoint, type NodeEndpoint } from '../../../adapters/node.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Client, createClient } from '../../../adapters/transport/client.ts';
import { jwtAuthenticator } from '../../../adapters/transport/jwt-authenticator.ts';
import { sessionAuthenticator } from '../../../adapters/transport/session-authenticator.ts';
import type { Authenticator } from '../../../src/contracts/authenticator.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { chromium } from '../../tools/browsers/chromium.ts';
import { oneFile } from '../../tools/browsers/one-file.ts';
import { closeServer, listen } from '../../tools/servers/http-server.ts';
import { clientId, createLoginKey, type ShopLoginOptions, startShopLogin } from '../../tools/servers/shop-login.ts';

const words = Array.from({ length: 30 }, (_, i) => `w${i} `);
const rights = { agents: ['helper'], scopes: ['run:create', 'run:read'] } as const;

declare const window: Window & typeof globalThis & {
  createClient: typeof createClient;
  client: Client;
  accessToken: string;
};

let script = '';
let browser: Browser;
const servers: Server[] = [];
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  script = await oneFile(join(import.meta.dirname, '../../fixtures/page/window-client.ts'));
  browser = await browserType.launch(chromium);
});
afterAll(async () => {
  await browser.close();
  await Promise.all(closing.map((close) => close()));
  await Promise.all(servers.map(closeServer));
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  return await listen(server);
}

/** A request as the endpoint saw it: what the tests say of it. */
interface Seen {
  readonly line: string;
  readonly hasCookie: boolean;
  readonly origin: string | undefined;
  readonly status: number;
}

/** An endpoint for pages of these origins, and what it was asked. */
async function startEndpoint(origins: readonly string[], authenticator: () => Authenticator) {
  const seen: Seen[] = [];
  const { model } = scriptedModel(...Array.from({ length: 20 }, () => says(...words)));
  const endpoint: NodeEndpoint = await createNodeEndpoint({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main' }],
      providers: [{ id: 'main', kind: 'custom' }],
    }),
    storage: memoryStorage(),
    models: { model: () => model },
    authenticator,
    origins,
    sinks: [],
    exitOnStop: false,
  });
  closing.push(() => endpoint.close({ drainMs: 0 }));
  const listener = endpoint.listener();
  const url = await serve((request, response) => {
    response.on('finish', () => seen.push(toSeen(request, response.statusCode)));
    listener(request, response);
  });
  return { url, seen };
}

function toSeen({ method, url, headers: { cookie, origin } }: IncomingMessage, status: number): Seen {
  return { line: `${method} ${url?.replace(/run_\w+/, ':id')}`, hasCookie: cookie !== undefined, origin, status };
}

/** A page of an app, with the client. */
async function openPage(url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(30_000);
  closing.unshift(() => page.context().close());
  await page.goto(url);
  await page.addScriptTag({ content: script, type: 'module' });
  await page.waitForFunction(() => 'createClient' in window); // a module runs behind its tag
  return page;
}

/** Runs the agent over the client of the page, and returns what it says. */
async function ask(page: Page): Promise<{ readonly text: string; readonly runId: string }> {
  return await page.evaluate(async () => {
    const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }];
    const chunks = await window.client.run({ agentId: 'helper', chat: { id: crypto.randomUUID(), messages } });
    const reader = chunks.getReader();
    let [text, runId] = ['', ''];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (next.value.type === 'text-delta') text += next.value.delta;
      if (next.value.type === 'data-run') ({ runId } = next.value.data as { readonly runId: string }); // as it is typed
    }
    return { text, runId };
  });
}

const blank: RequestListener = (_, response) =>
  void response.setHeader('content-type', 'text/html').end('<p>A page</p>');

describe('people who sign in by OpenID Connect', () => {
  const claims: Record<string, Record<string, unknown>> = { ada: { org: 'shop' }, bob: {} };
  let [ttl, clockMs] = [60, 0];
  let shop = '';
  let login = '';
  let otherLogin = '';
  let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
  const audience = 'https://agents.shop.example';

  beforeAll(async () => {
    shop = await serve(blank);
    const key = await createLoginKey();
    const options: ShopLoginOptions = {
      redirectUri: `${shop}/callback`,
      audiences: [audience, 'https://other.example'],
      claimsOf: (id) => claims[id] ?? {},
      ttlSeconds: () => ttl,
      key, // the other server has the same, so only its name tells its tokens apart
    };
    const both = [await startShopLogin(options), await startShopLogin(options)];
    closing.push(...both.map((server) => () => server.close()));
    [login = '', otherLogin = ''] = both.map(({ url }) => url);
    endpoint = await startEndpoint([shop], () =>
      jwtAuthenticator({
        issuer: login,
        audience,
        keys: `${login}/jwks`,
        egress: denoEgress(),
        privateOrigins: [login],
        now: () => Date.now() + clockMs,
        principalOf: ({ sub, org }) => typeof org === 'string' ? { tenant: org, subject: sub, ...rights } : undefined,
      }));
  });
  beforeEach(() => {
    [ttl, clockMs] = [60, 0];
    endpoint.seen.length = 0;
  });

  /** Signs a person in as the page would: authorization code with PKCE. Leaves the tokens and the client in the page. */
  async function signIn(person: string, { issuer = login, resource = audience } = {}): Promise<Page> {
    const page = await openPage(shop);
    const start = await page.evaluate(async ({ issuer: from, clientId: id, resource: of, redirectUri }) => {
      const verifier = `${crypto.randomUUID()}${crypto.randomUUID()}`;
      sessionStorage.setItem('verifier', verifier);
      // The page is not a secure context, which `crypto.subtle` needs, only where its host is not this machine's.
      const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
      const challenge = btoa(String.fromCharCode(...new Uint8Array(hash))).replaceAll('+', '-').replaceAll('/', '_')
        .replace(/=+$/, '');
      const query = new URLSearchParams({
        client_id: id,
        response_type: 'code',
        scope: 'openid offline_access',
        prompt: 'consent',
        redirect_uri: redirectUri,
        resource: of,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      return `${from}/auth?${query}`;
    }, { issuer, clientId, resource, redirectUri: `${shop}/callback` });
    await page.goto(start);
    await page.fill('input[name=login]', person);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.click('button[type=submit]'); // the consent
    await page.waitForURL(`${shop}/callback?**`);
    await page.addScriptTag({ content: script, type: 'module' });
    await page.evaluate(async ({ issuer: from, clientId: id, url, redirectUri }) => {
      interface Tokens {
        readonly access_token: string;
        readonly refresh_token: string;
      }
      const fetchTokens = async (grant: Readonly<Record<string, string>>): Promise<Tokens> => {
        const body = new URLSearchParams({ client_id: id, ...grant });
        const answer = await fetch(`${from}/token`, { method: 'POST', body });
        if (!answer.ok) throw new Error(await answer.text());
        return await answer.json() as Tokens;
      };
      const code = new URL(location.href).searchParams.get('code') ?? '';
      const verifier = sessionStorage.getItem('verifier') ?? '';
      let tokens = await fetchTokens({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri,
      });
      window.accessToken = tokens.access_token;
      window.client = window.createClient({
        url,
        agentId: 'helper',
        credentials: {
          bearer: async (rejected) => {
            if (rejected === tokens.access_token) {
              tokens = await fetchTokens({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
            }
            return tokens.access_token;
          },
        },
      });
    }, { issuer, clientId, url: endpoint.url, redirectUri: `${shop}/callback` });
    return page;
  }

  it('use an endpoint of another origin with their access token, from a page', async () => {
    expect(await ask(await signIn('ada'))).toMatchObject({ text: words.join('') });
    expect(endpoint.seen.filter(({ line }) => line === 'POST /v1/runs')).toMatchObject([{ status: 200, origin: shop }]);
  });

  it('go on when their token has expired: the page renews it, and repeats the request', async () => {
    const page = await signIn('ada');
    [ttl, clockMs] = [3600, 600_000];
    expect(await ask(page)).toMatchObject({ text: words.join('') });
    expect(endpoint.seen.filter(({ line }) => line === 'POST /v1/runs').map(({ status }) => status)).toEqual([
      401,
      200,
    ]);
  });

  it.each<[string, () => Promise<Page>]>([
    ['without the claim of a tenant', () => signIn('bob')],
    ['for another audience', () => signIn('ada', { resource: 'https://other.example' })],
    ['of another issuer', () => signIn('ada', { issuer: otherLogin })],
  ])('are refused with one answer where their token is %s', async (_, open) => {
    const token = await (await open()).evaluate(() => window.accessToken);
    const answer = await fetch(`${endpoint.url}/v1/runs`, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${token}`, 'idempotency-key': '"0123456789abcdef"' },
    });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({
      code: 'token_invalid',
      detail: 'The token was not issued for this endpoint, is not valid now, or lacks a claim that names its caller',
    });
  });
});

describe('people with a session cookie', () => {
  let shop = '';
  let evil = '';
  let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
  const atHost = (url: string, host: string): string => url.replace('127.0.0.1', host);

  beforeAll(async () => {
    // The weakest cookie that a shop can set: the browser sends it with requests of every site.
    const cookie = 'shop-session=s-1; Domain=shop.localhost; Path=/; HttpOnly; Secure; SameSite=None';
    shop = atHost(
      await serve((request, response) => blank(request, response.setHeader('set-cookie', cookie))),
      'shop.localhost',
    );
    evil = atHost(await serve(blank), 'evil.localhost');
    endpoint = await startEndpoint([shop], () =>
      sessionAuthenticator({
        lookup: ({ cookies }) =>
          cookies['shop-session'] === 's-1' ? { tenant: 'shop', subject: 'ada', ...rights } : undefined,
        origins: [shop],
      }));
    endpoint = { ...endpoint, url: atHost(endpoint.url, 'agents.shop.localhost') };
  });
  beforeEach(() => void (endpoint.seen.length = 0));

  async function signedIn(): Promise<Page> {
    const page = await openPage(shop);
    await page.evaluate((url) => {
      window.client = window.createClient({ url, agentId: 'helper', credentials: { cookies: true } });
    }, endpoint.url);
    return page;
  }

  it('use an endpoint of another origin of the shop, and its streams, with fetch and with EventSource', async () => {
    const page = await signedIn();
    const { text: first, runId } = await ask(page);
    expect(first).toBe(words.join(''));
    const text = await page.evaluate((stream) =>
      new Promise<string>((resolve) => {
        let said = '';
        const source = new EventSource(stream, { withCredentials: true });
        source.addEventListener('message', ({ data }: MessageEvent<string>) => {
          if (data === '[DONE]') return (source.close(), resolve(said));
          const chunk = JSON.parse(data) as { readonly type: string; readonly delta?: string };
          if (chunk.type === 'text-delta') said += chunk.delta ?? '';
        });
      }), `${endpoint.url}/v1/runs/${runId}/stream`);
    expect(text).toBe(words.join(''));
    expect(endpoint.seen.filter(({ line }) => !line.startsWith('OPTIONS'))).toEqual(
      ['POST /v1/runs', 'GET /v1/runs/:id/stream'].map((line) => ({
        line,
        hasCookie: true,
        origin: shop,
        status: 200,
      })),
    );
  });

  it('cannot be used by a page of another site, though the browser sends their cookie', async () => {
    const page = await signedIn();
    const { runId } = await ask(page);
    endpoint.seen.length = 0;
    await page.goto(evil);
    await page.evaluate(async ({ url, run }) => {
      const body = JSON.stringify({ agentId: 'helper', chat: { id: 'c', messages: [] } });
      const send = async (init: RequestInit): Promise<unknown> =>
        await fetch(url, { credentials: 'include', ...init }).catch(() => undefined);
      const headers = { 'content-type': 'application/json', 'idempotency-key': '"0123456789abcdef"' };
      await send({ method: 'POST', headers, body }); // asks first (CORS)
      await send({ method: 'POST', body }); // what a form can send, too
      await fetch(`${url}/${run}`, { credentials: 'include', mode: 'no-cors' });
      await new Promise((resolve) =>
        new EventSource(`${url}/${run}/stream`, { withCredentials: true }).addEventListener('error', resolve)
      );
    }, { url: `${endpoint.url}/v1/runs`, run: runId });
    const answered = endpoint.seen.filter(({ line }) => !line.startsWith('OPTIONS'));
    expect(answered.map(({ line }) => line)).toEqual(['POST /v1/runs', 'GET /v1/runs/:id', 'GET /v1/runs/:id/stream']);
    expect(answered.every(({ hasCookie, status }) => hasCookie && status === 403)).toBe(true);
  });
});
