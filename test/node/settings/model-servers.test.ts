import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listModels, testModel } from '../../../demo/settings/state/ask-server.ts';
import { type LocalServer, localServers, lookForServers } from '../../../demo/settings/state/local-servers.ts';
import { hostedProviders, providerAt } from '../../../demo/settings/state/providers.ts';

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** Starts a server and returns its base URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`; // it listens on a port
}

const json = (body: unknown, status = 200): RequestListener => (_, response) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const models = { data: [{ id: 'zeta' }, { id: 'alpha' }, { name: 'no id' }] };

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks = await Array.fromAsync(request as AsyncIterable<Uint8Array>);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>; // the test sent it
}

describe('listModels', () => {
  it('returns the names of the models, with the key in the request', async () => {
    const keys: unknown[] = [];
    const baseUrl = await serve((request, response) => {
      keys.push(request.headers.authorization);
      json(models)(request, response);
    });
    expect(await listModels({ baseUrl, apiKey: 'sk-1' }, { fetch })).toEqual({ ok: true, value: ['alpha', 'zeta'] });
    expect(await listModels({ baseUrl }, { fetch })).toMatchObject({ ok: true });
    expect(keys).toEqual(['Bearer sk-1', undefined]);
  });

  it('repeats the provider’s own words without the key', async () => {
    const message = 'Incorrect API key provided: sk-live-0123456789abcdef.';
    const baseUrl = await serve(json({ error: { message } }, 401));
    const reply = await listModels({ baseUrl, apiKey: 'sk-live-0123456789abcdef' }, { fetch });
    expect(reply).toEqual({
      ok: false,
      text: `${new URL(baseUrl).host} answered 401: “Incorrect API key provided: [key]”. Check the key.`,
    });
  });

  it.each([
    ['a page', (_: unknown, response: { end: (text: string) => unknown }) => response.end('<!doctype html>')],
    ['another document', json({ hello: 'world' })],
  ])('says that %s is not the list of a model server', async (_, listener) => {
    const baseUrl = await serve(listener);
    expect(await listModels({ baseUrl }, { fetch })).toMatchObject({
      ok: false,
      text: expect.stringContaining('/v1') as string,
    });
  });

  it('says that a server cannot be reached, or is late', async () => {
    const baseUrl = await serve(() => undefined);
    expect(await listModels({ baseUrl }, { fetch, timeoutMs: 50 })).toMatchObject({
      text: `${new URL(baseUrl).host} did not answer in time.`,
    });
    servers.splice(0).forEach((server) => {
      server.closeAllConnections();
      server.close();
    });
    expect(await listModels({ baseUrl }, { fetch })).toMatchObject({
      ok: false,
      text: expect.stringContaining('CORS') as string,
    });
  });
});

describe('testModel', () => {
  const sse = 'data: {"choices":[{"delta":{"content":"OK"}}]}\n\n';

  it('asks the model for a word as a run would, and returns when it began', async () => {
    const bodies: unknown[] = [];
    const answer = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
      bodies.push(await bodyOf(request));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse);
    };
    const baseUrl = await serve((...exchange) => void answer(...exchange));
    const reply = await testModel({ baseUrl, model: 'alpha' }, { fetch });
    expect(reply).toMatchObject({ ok: true });
    expect(bodies).toMatchObject([{ model: 'alpha', stream: true }]);
  });

  it.each([
    [
      404,
      { error: { message: 'The model "alpha" does not exist' } },
      'answered 404: “The model "alpha" does not exist”. Check the address and the name',
    ],
    [
      402,
      { error: { message: 'Insufficient credits' } },
      'answered 402: “Insufficient credits”. The account has no credit.',
    ],
    [500, 'oops', 'answered 500: “oops”.'],
  ])('repeats what the provider says with a %i', async (status, body, text) => {
    const baseUrl = await serve(json(body, status));
    const reply = await testModel({ baseUrl, model: 'alpha' }, { fetch });
    expect(reply).toMatchObject({ ok: false, text: expect.stringContaining(text) as string });
  });

  it('reports an error within the stream, and an answer that is no stream', async () => {
    const inStream = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(
        'data: {"error":{"message":"Overloaded"}}\n\n',
      );
    });
    expect(await testModel({ baseUrl: inStream, model: 'a' }, { fetch })).toMatchObject({
      ok: false,
      text: expect.stringContaining('“Overloaded”') as string,
    });
    const noStream = await serve(json({ choices: [] }));
    expect(await testModel({ baseUrl: noStream, model: 'a' }, { fetch })).toMatchObject({
      ok: false,
      text: expect.stringContaining('Unexpected response') as string,
    });
  });
});

describe('lookForServers', () => {
  const at = (id: string, baseUrl: string): LocalServer => ({ id, name: id, baseUrl, fixes: () => [] });
  const closed = 'http://127.0.0.1:9/v1';

  it('tells open servers, those that refuse the page, and addresses without one apart', async () => {
    const open = await serve(json(models));
    const refusing = await serve(json({}, 403));
    const keyed = await serve(json({}, 401));
    const found = await lookForServers({
      servers: [at('open', open), at('refusing', refusing), at('keyed', keyed), at('absent', closed)],
      fetch,
      permission: () => Promise.resolve(undefined),
    });
    expect(found.map(({ state }) => state)).toEqual([
      { type: 'open', models: ['alpha', 'zeta'] },
      { type: 'refused' },
      { type: 'key' },
      { type: 'absent' },
    ]);
  });

  it('says that the browser does not let the page look', async () => {
    const look = (state: PermissionState) =>
      lookForServers({ servers: [at('absent', closed)], fetch, permission: () => Promise.resolve(state) });
    expect((await look('denied'))[0]?.state.type).toBe('blocked');
    expect((await look('granted'))[0]?.state.type).toBe('absent');
  });

  it('has a line for each server that allows this page and no other', () => {
    const origin = 'https://page.example';
    for (const { fixes, id } of localServers) {
      const lines = fixes(origin).map(({ line }) => line);
      expect(lines.length, id).toBeGreaterThan(0);
      expect(lines.join(), id).not.toContain('*');
      if (id !== 'lm-studio') expect(lines.every((line) => line.includes(origin)), id).toBe(true);
    }
  });
});

describe('hostedProviders', () => {
  it('are found by their addresses', () => {
    for (const provider of hostedProviders) {
      expect(provider.baseUrl).toMatch(/^https:\/\/.*[^/]$/);
      expect(providerAt(`${provider.baseUrl}/`)).toBe(provider);
    }
    expect(providerAt('https://models.example/v1')).toBeUndefined();
    expect(providerAt('')).toBeUndefined();
  });
});
