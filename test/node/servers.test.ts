import { type HttpBindings, serve as serveHono } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, it } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { createNodeEndpoint, type NodeEndpoint, nodeEnvSecrets, toNodeListener } from '../../adapters/node.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../adapters/transport/authenticator.ts';
import { createClient } from '../../adapters/transport/client.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import type { Handler } from '../../adapters/transport/http.ts';
import { createIssuer } from '../../adapters/transport/issuer.ts';
import { createPrincipal, defineTool, localPrincipal } from '../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../fixtures/model.ts';
import { readAll, runRequest, textOf, userMessage } from '../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function endpointOf(
  options: Partial<Parameters<typeof createNodeEndpoint>[0]> = {},
  model = scriptedModel(says('Hel', 'lo')),
): Promise<NodeEndpoint> {
  const endpoint = await createNodeEndpoint({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'main' }],
      providers: [{ id: 'main', kind: 'custom' }],
    }),
    authenticator: () => developmentAuthenticator({ token }),
    tools: [],
    storage: memoryStorage(),
    models: { model: () => model.model },
    sinks: [],
    exitOnStop: false,
    ...options,
  });
  closers.push(() => endpoint.close({ drainMs: 0 }));
  return endpoint;
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return originOf(server);
}

/** Sends bytes, and returns all that comes back until the connection ends. */
async function send(port: string, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = '';
  const socket = connect(Number(port), '127.0.0.1', () => void socket.write(text));
  socket.setTimeout(10_000, () => socket.destroy(new Error(`No end after: ${answer.slice(0, 200)}`)));
  socket.on('data', (data) => void (answer += String(data)));
  socket.on('error', reject);
  socket.on('close', () => resolve(answer));
  return await promise;
}

function originOf(server: Server): string {
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves a handler below `/agents`. */
function listenByHono(handler: Handler): Promise<string> {
  const app = new Hono<{ Bindings: HttpBindings }>().all('/agents/*', (c) => handler(c.req.raw, c.env));
  return new Promise<string>((resolve) => {
    const server = serveHono(
      { fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false },
      () => resolve(originOf(server as Server)),
    );
  });
}

/** What an agent at this address answers. */
async function askAt(url: string): Promise<string> {
  const client = createClient({ url, credentials: { bearer: token }, attempts: 1 });
  return textOf(await readAll(await client.run(runRequest())));
}

describe('an endpoint on Node', () => {
  it('refuses a body that comes in single bytes, and takes one in small pieces', async () => {
    const { port } = new URL(await listen((await endpointOf()).listener()));
    const inPieces = async (body: string, size: number): Promise<string> => {
      const chunks = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const head = [
        'POST /v1/runs HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Idempotency-Key: "${crypto.randomUUID()}"`,
        'Transfer-Encoding: chunked',
        'Connection: close',
      ];
      const sent = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      return await send(port, `${head.join('\r\n')}\r\n\r\n${sent}0\r\n\r\n`);
    };
    expect(await inPieces('x'.repeat(200_000), 1)).toContain('body_in_pieces');
    const body = JSON.stringify(runRequest({ chat: { id: 'c1', messages: [userMessage('x'.repeat(50_000))] } }));
    expect(await inPieces(body, 16)).toContain(' 200 OK');
  });

  it('says what to pass to `createServer` instead of the function that makes a listener', () => {
    const request = { rawHeaders: [] } as { basePath?: string }; // what `createServer` calls it with
    expect(() => toNodeListener(() => Promise.resolve(new Response()), request)).toThrow('endpoint.listener()');
  });

  it('says what to pass to `createServer` instead of its handler', async () => {
    const given = (await endpointOf()).handler as unknown as (
      ...exchange: Parameters<RequestListener>
    ) => Promise<never>;
    const thrown: unknown[] = [];
    const url = await listen((...exchange) => void given(...exchange).catch((error: unknown) => thrown.push(error)));
    const response = await fetch(`${url}/v1/healthz`);
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('toNodeListener(handler)')]);
    expect(thrown).toMatchObject([{ code: 'invalid_argument', details: { field: 'request' } }]);
  });

  it('asks the `authorize` of its options before a tool runs', async () => {
    const [calls, executed] = [[] as string[], [] as number[]];
    const tool = defineTool({
      id: 'add',
      description: 'Adds one',
      input: { type: 'object' },
      execute: () => executed.push(1),
    });
    const { runtime } = await endpointOf({
      tools: [tool],
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'main', entryTools: ['add'] }],
        providers: [{ id: 'main', kind: 'custom' }],
      }),
      authorize: (action) => {
        calls.push(action);
        return { decision: 'deny', reason: 'not today' };
      },
    }, scriptedModel(callsTools({ tool: 'add', input: {} }), says('done')));
    await readAll(await runtime.run(runRequest(), localPrincipal()));
    expect(calls).toContain('tool.call');
    expect(executed).toEqual([]);
  });

  it('serves by node:http', async () => {
    expect(await askAt(await listen((await endpointOf()).listener()))).toBe('Hello');
  });

  it('serves below a base path', async () => {
    const url = await listen((await endpointOf()).listener({ basePath: '/agents' }));
    expect(await askAt(`${url}/agents`)).toBe('Hello');
    expect((await fetch(`${url}/agents/v1/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/agents/nothing`)).status).toBe(404);
  });

  it('serves nothing outside of its base path', async () => {
    const { handler } = await endpointOf({ basePath: '/agents' });
    for (
      const path of ['/v1/healthz', '/agentsv1/healthz', '/agents', '/agents/../v1/healthz']
    ) {
      const response = await handler(new Request(`http://localhost${path}`));
      expect(response.status, path).toBe(404);
      expect(await response.json()).toMatchObject({ details: { reason: 'no_route' } });
    }
    expect((await handler(new Request('http://localhost/agents/v1/healthz'))).status).toBe(200);
  });

  it('verifies signatures of the whole path below a base path', async () => {
    const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'test' });
    let authority = '';
    const endpoint = await endpointOf({
      authenticator: (storage) => ({
        authenticate: (request) =>
          createAuthenticator({ issuers: [issuer.trusted], audience: 'test', authorities: [authority], storage })
            .authenticate(request),
      }),
    });
    const url = await listen(endpoint.listener({ basePath: '/agents' }));
    authority = new URL(url).host;
    const credentials = await issuer.issue({
      sub: 's1',
      tenant: 't1',
      agents: ['helper'],
      scopes: ['run:create', 'run:read'],
    });
    const client = createClient({ url: `${url}/agents`, agentId: 'helper', credentials, attempts: 1 });
    expect(textOf(await readAll(await client.run(runRequest())))).toBe('Hello');
  });

  it('serves by Express, mounted below a path, before and after a body parser', async () => {
    const listener = (await endpointOf()).listener();
    const app = express();
    app.use('/agents', listener);
    app.use(express.json());
    app.use('/parsed', listener);
    const url = await listen(app);
    expect(await askAt(`${url}/agents`)).toBe('Hello');
    expect(await askAt(`${url}/parsed`)).toBe('Hello');
  });

  it('serves by Hono on Node', async () => {
    const { handler } = await endpointOf({ basePath: '/agents' });
    const url = await listenByHono(handler);
    expect(await askAt(`${url}/agents`)).toBe('Hello');
  });

  it('serves as a route handler of Next.js, called with a request', async () => {
    const { handler } = await endpointOf({ basePath: '/api/agents' });
    const POST = (request: Request): Promise<Response> => handler(request);
    const client = createClient({
      url: 'http://localhost:3000/api/agents',
      credentials: { bearer: token },
      fetch: POST,
    });
    expect(textOf(await readAll(await client.run(runRequest())))).toBe('Hello');
  });

  it('reads metrics with the token of its environment', async () => {
    const scrapeToken = 'prometheus-reads-with-this-token-0123456789';
    process.env['PINNACE_METRICS_TOKEN'] = scrapeToken;
    const endpoint = await endpointOf().finally(() => delete process.env['PINNACE_METRICS_TOKEN']);
    const url = `${await listen(endpoint.listener())}/v1/metrics`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${scrapeToken}` } });
    expect(await response.text()).toContain('pinnace_open_runs');
    expect((await fetch(url)).status).toBe(401);
  });

  it('stores events for observers of every instance', async () => {
    const shared = { storage: memoryStorage(), eventRetentionMs: 60_000 };
    const [one, two] = [await endpointOf(shared), await endpointOf(shared)];
    expect(await askAt(await listen(one.listener()))).toBe('Hello');
    const client = createClient({ url: await listen(two.listener()), credentials: { bearer: token }, attempts: 1 });
    for await (const item of await client.events({ action: 'run.end', lastEventId: '0' })) {
      if (item.type !== 'event') continue;
      expect(item.event).toMatchObject({ action: 'run.end', status: 'ok' });
      break;
    }
  });

  it('stops a run some time after its reader has left', async () => {
    const model = scriptedModel(() => stallingStream(says('Hel', 'lo').slice(0, 3)));
    const endpoint = await endpointOf({ limits: { detachGraceMs: 1 } }, model);
    const url = await listen(endpoint.listener());
    const left = new AbortController();
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      signal: left.signal,
      headers: {
        'authorization': `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `"${crypto.randomUUID()}"`,
      },
      body: JSON.stringify(runRequest()),
    });
    await response.body?.getReader().read();
    await expect.poll(() => model.calls.length).toBe(1);
    left.abort();
    await expect.poll(() => model.calls[0]?.abortSignal?.aborted).toBe(true);
  });

  it('refuses a large body, and answers the next request', async () => {
    const url = await listen((await endpointOf()).listener());
    const headers = {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
    };
    const large = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body: 'x'.repeat(17_000_000) }).catch(() =>
      undefined
    );
    expect([413, undefined]).toContain(large?.status);
    expect(await askAt(url)).toBe('Hello');
  });

  it.each([
    ['whose body is too large', '/v1/runs', 413],
    ['for a path that is not served', '/v1/nothing', 404],
  ])('answers a request %s, and closes the connection', async (_, path, status) => {
    const { port } = new URL(await listen((await endpointOf()).listener()));
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Idempotency-Key: "${crypto.randomUUID()}"`,
      'Content-Length: 17000000',
    ];
    // The rest of the body never comes, and the client never closes.
    const answer = await send(port, `${head.join('\r\n')}\r\n\r\n{`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).toMatch(/"code":"\w+".*\}$/);
  });

  it('reuses the connection of a refused request whose body has arrived', async () => {
    const { port } = new URL(await listen((await endpointOf()).listener()));
    const post = `POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`;
    const get = 'GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expect((await send(port, post + get)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('takes a path of two slashes for a path, never for the address of another host', async () => {
    const { port } = new URL(await listen((await endpointOf()).listener()));
    for (const path of ['//evil.example/v1/healthz', '/\\evil.example/v1/healthz']) {
      expect(await send(port, `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 404 /,
      );
    }
  });

  it('needs a database, or a storage of its own', async () => {
    const before = process.env['DATABASE_URL'];
    delete process.env['DATABASE_URL'];
    const { storage: _, ...options } = {
      storage: undefined,
      catalog: staticCatalog({ agents: [], providers: [] }),
      authenticator: () => developmentAuthenticator({ token }),
      tools: [],
    };
    await expect(createNodeEndpoint(options)).rejects.toMatchObject({ details: { reason: 'no_database' } });
    if (before !== undefined) process.env['DATABASE_URL'] = before;
  });

  it('reads secrets from the environment', async () => {
    process.env['PINNACE_SECRET_CRM_KEY'] = 'hunter2';
    closers.push(() => delete process.env['PINNACE_SECRET_CRM_KEY']);
    const secrets = nodeEnvSecrets({ origins: { 'crm-key': ['https://crm.example.com'] } });
    const principal = createPrincipal({ via: 'http', tenant: 't1', subject: 's1', agents: '*', scopes: [] });
    const signal = new AbortController().signal;
    const secret = await secrets.resolve({ id: 'crm-key' }, {
      scope: { principal, origin: 'https://crm.example.com' } as never,
      signal,
    });
    expect(secret.reveal()).toBe('hunter2');
    await expect(secrets.resolve({ id: 'other' }, { scope: { principal, origin: 'code' } as never, signal })).rejects
      .toMatchObject({ code: 'not_found' });
  });

  it('answers a request that is none with 400', async () => {
    const url = await listen(toNodeListener(() => Promise.reject(new Error('no'))));
    expect((await fetch(url)).status).toBe(400);
  });
});

describe('a path', () => {
  /** An endpoint below `/agents` on three servers, and what a request for a target is answered. */
  const servers = {
    'node:http': async () =>
      await listen((await endpointOf({ basePath: '/agents' })).listener({ basePath: '/agents' })),
    'Express': async () => await listen(express().use('/agents', (await endpointOf()).listener())),
    'Hono': async () => await listenByHono((await endpointOf({ basePath: '/agents' })).handler),
  };
  const ask = async (url: string, target: string): Promise<string> =>
    await send(new URL(url).port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);

  it.each(Object.keys(servers) as (keyof typeof servers)[])('has one form on %s', async (name) => {
    const url = await servers[name]();
    for (const target of ['/agents/v1/healthz', '/agents/v1/healthz?a=//../%2e']) {
      expect(await ask(url, target), target).toMatch(/^HTTP\/1\.1 200 /);
    }
    const others = [
      '/agents/v1\\healthz',
      '/agents\\v1/healthz',
      '/agents/v1/%2e%2e/v1/healthz',
      '/agents/v1/%2E%2e/v1/healthz',
      '/agents/v1/../v1/healthz',
      '/agents/v1/./healthz',
      '/x/../agents/v1/healthz',
      '//agents/v1/healthz',
      '/agents//v1/healthz',
      '/agents/v1//healthz',
      '/agents/v1/%68ealthz',
      '/agents/%76%31/healthz',
      '/agents/v1/healthz#',
      '/agents/v1/x/..\\healthz',
      '//localhost/agents/v1/healthz',
    ];
    for (const target of others) expect(await ask(url, target), target).not.toContain('"status":"ok"');
  });

  it.each([
    'http://localhost/v1\\healthz',
    'http://localhost//v1/healthz',
    'http://localhost/v1/../v1/healthz',
  ])('after a host is not served as %s', async (target) => {
    const url = await listen((await endpointOf()).listener());
    expect(await ask(url, 'http://localhost/v1/healthz')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(url, target)).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  it('may have ids with every character, as encodeURIComponent writes them', async () => {
    const url = await listen((await endpointOf()).listener());
    const headers = { authorization: `Bearer ${token}` };
    for (const id of ['a/b', '..\\c', "ü ~!*'()", '50%', 'a.b-c_d', '%2e']) {
      const response = await fetch(`${url}/v1/runs/${encodeURIComponent(id)}`, { headers });
      expect(await response.json(), id).toMatchObject({ status: 404, details: { reason: 'run_not_found' } });
    }
  });
});

describe('a process with two endpoints', () => {
  const fixture = join(import.meta.dirname, '../fixtures/processes/two-endpoints-server.ts');

  async function runTwo(how: 'close' | 'signal'): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(process.execPath, [fixture, how], { stdio: ['ignore', 'pipe', 'inherit'] });
    closers.push(() => child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (how === 'signal' && output === 'open\n') child.kill('SIGTERM');
    });
    const [code] = await once(child, 'close') as [number | null];
    return { code, output };
  }

  it('ends when both have closed', async () => {
    expect(await runTwo('close')).toEqual({ code: 0, output: 'open\nfirst closed\nsecond closed\n' });
  });

  it('closes both after a signal before it ends', async () => {
    expect(await runTwo('signal')).toEqual({ code: 0, output: 'open\nfirst closed\nsecond closed\n' });
  });

  it('listens to signals only while an endpoint is open', async () => {
    const before = process.listenerCount('SIGTERM');
    const [first, second] = [await endpointOf({ exitOnStop: true }), await endpointOf({ exitOnStop: true })];
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    await first.close();
    expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    await second.close();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});
