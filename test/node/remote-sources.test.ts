import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { denoEgress } from '../../adapters/egress/deno.ts';
import { httpCatalog } from '../../adapters/catalog/http.ts';
import { httpSecrets } from '../../adapters/secrets/http.ts';
import type { Catalog } from '../../src/contracts/catalog.ts';
import { textsIn } from '../contracts/secrets/printing.ts';
import { closeServer, listen } from '../tools/servers/http-server.ts';

const value = 'sk-live-0123456789';
const privateOrigins = ['loopback'];
const headers = () => ({ authorization: 'Bearer control-token-42' });
const agent = JSON.stringify({ id: 'helper', name: 'Helper', providerId: 'main' });
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await closeServer(server);
});

/** Starts a server on this machine that is closed after the test. */
async function serve(listener: RequestListener): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  servers.push(server);
  return { url: await listen(server), asked };
}

async function catalogOf(listener: RequestListener): Promise<{ catalog: Catalog; asked: IncomingMessage[] }> {
  const { url, asked } = await serve(listener);
  return { catalog: httpCatalog({ url: `${url}/v1`, headers, egress: denoEgress(), privateOrigins }), asked };
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(() => undefined, (reason: unknown) => reason);
  expect(textsIn(error)).not.toMatch(/sk-live|control-token/);
  return error;
}

describe('httpCatalog over a real connection', () => {
  it('loads a record, and then asks with its entity tag', async () => {
    const { catalog, asked } = await catalogOf((request, response) => {
      const isKnown = request.headers['if-none-match'] === '"r1"';
      response.writeHead(isKnown ? 304 : 200, { etag: '"r1"' }).end(isKnown ? undefined : agent);
    });
    const first = await catalog.agent('helper');
    expect(first).toMatchObject({ name: 'Helper' });
    expect(await catalog.agent('helper')).toBe(first);
    expect(asked.map((request) => [request.url, request.headers.authorization, request.headers['if-none-match']]))
      .toEqual([
        ['/v1/agents/helper', 'Bearer control-token-42', undefined],
        ['/v1/agents/helper', 'Bearer control-token-42', '"r1"'],
      ]);
  });

  it('takes its headers to no other address', async () => {
    const thief = await serve((_, response) => response.end(agent));
    const { catalog } = await catalogOf((_, response) => response.writeHead(302, { location: `${thief.url}/` }).end());
    expect(await errorOf(catalog.agent('helper'))).toMatchObject({ code: 'unavailable' });
    expect(thief.asked).toEqual([]);
  });

  it('hangs up on an answer that never ends', async () => {
    const hungUp = Promise.withResolvers<void>();
    const { catalog } = await catalogOf((_, response) => {
      response.on('close', () => hungUp.resolve());
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await errorOf(catalog.agent('helper'))).toMatchObject({ details: { reason: 'catalog_too_large' } });
    await hungUp.promise;
  });

  it('hangs up when the signal aborts in the middle of an answer', async () => {
    const hungUp = Promise.withResolvers<void>();
    const stop = new AbortController();
    const { catalog } = await catalogOf((_, response) => {
      response.on('close', () => hungUp.resolve());
      response.write('{"id":', () => stop.abort());
    });
    expect(await errorOf(catalog.agent('helper', stop.signal))).toMatchObject({ code: 'cancelled' });
    await hungUp.promise;
  });

  it('is unavailable, to be tried again, when the connection breaks or there is no server', async () => {
    const unreachable = { code: 'unavailable', retryable: true, details: { reason: 'catalog_unreachable' } };
    const refusing = await catalogOf((_, response) => response.destroy());
    expect(await errorOf(refusing.catalog.agent('helper'))).toMatchObject(unreachable);
    const breaking = await catalogOf((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":', () => response.destroy());
    });
    expect(await errorOf(breaking.catalog.agent('helper'))).toMatchObject(unreachable);
    await closeServer(servers.pop() as Server); // the one that was just started
    expect(await errorOf(breaking.catalog.agent('helper'))).toMatchObject(unreachable);
  });
});

describe('httpSecrets over a real connection', () => {
  const asking = { scope: { tenant: 'acme', agentId: 'helper' }, signal: new AbortController().signal };

  it('loads a secret, and asks anew each time', async () => {
    const { url, asked } = await serve((_, response) => {
      response.setHeader('cache-control', 'max-age=3600');
      response.end(JSON.stringify({ value, version: String(asked.length) }));
    });
    const secrets = httpSecrets({ url, headers, privateOrigins, unboundSecrets: 'allow' });
    const versions = [await secrets.resolve({ id: 'key' }, asking), await secrets.resolve({ id: 'key' }, asking)];
    expect(versions.map(({ version }) => version)).toEqual(['1', '2']);
    expect(versions.map((secret) => secret.reveal())).toEqual([value, value]);
  });

  it('shows nothing of an answer that breaks off in the value', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write(`{"value":"${value}`, () => response.destroy());
    });
    const error = await errorOf(
      httpSecrets({ url, headers, privateOrigins, unboundSecrets: 'allow' }).resolve({ id: 'key' }, asking),
    );
    expect(error).toMatchObject({ code: 'unavailable', retryable: true });
  });

  it('is forbidden, missing and unavailable as the server says', async () => {
    const { url } = await serve((request, response) => response.writeHead(Number(request.url?.slice(1))).end(value));
    const codes = ['401', '403', '404', '500'].map(async (id) =>
      await errorOf(httpSecrets({ url, privateOrigins }).resolve({ id }, asking))
    );
    expect(await Promise.all(codes)).toMatchObject(
      ['forbidden', 'forbidden', 'not_found', 'unavailable'].map((code) => ({ code })),
    );
  });
});
