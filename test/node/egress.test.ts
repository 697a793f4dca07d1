// The adapter needs only what Node has too.
import '../deno/checked-lookup.test.ts';
import '../deno/egress.test.ts';

import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serverEgress } from '../../adapters/egress/deno.ts';
import type { EgressOptions } from '../../src/contracts/egress.ts';
import { type Loopback, serve } from '../fixtures/loopback.ts';

const { signal } = new AbortController();

const answered: RequestListener = (_, response) => void response.setHeader('content-type', 'text/plain').end('b');

describe('the sockets of an egress on Node', () => {
  const open = (server: Loopback) => {
    const origin = server.origin('127.0.0.1');
    const egress = serverEgress({ privateOrigins: [origin] });
    const send = async (terms: Pick<EgressOptions, 'limits'> = { limits: 'caller' }): Promise<string> => {
      const request = new Request(`${origin}/v1`, { method: 'POST', body: 'a' });
      return await (await egress.fetch(request, { origins: [origin], signal, maxBytes: 1000, ...terms })).text();
    };
    return { send };
  };

  it('are used again by requests whose caller bounds them, and by no others', async () => {
    const server = await serve(answered);
    const { send } = open(server);
    for (let i = 0; i < 3; i++) expect(await send()).toBe('b');
    expect(server.sockets).toBe(1);
    for (let i = 0; i < 3; i++) expect(await send({})).toBe('b');
    expect(server.sockets).toBe(4);
    await Promise.all([send(), send()]);
    expect(server.sockets).toBe(5);
  });

  it('are replaced where the host has closed one, and the request is sent again once', async () => {
    const seen = new Set<unknown>();
    const server = await serve((request, response) => {
      if (seen.has(request.socket)) request.socket.destroy(); // a host that closes as the next request comes
      else answered(request, response);
      seen.add(request.socket);
    });
    const { send } = open(server);
    for (let i = 0; i < 3; i++) expect(await send()).toBe('b');
    expect(server.requests).toHaveLength(4);
  });

  it('of an origin that may be private serve no request that may not reach it', async () => {
    const server = await serve(answered);
    const origin = server.origin('127.0.0.1');
    const egress = serverEgress({ schemes: ['http', 'https'] });
    const options = { origins: [origin], signal, maxBytes: 1000, limits: 'caller' } as const;
    const listed = await egress.fetch(new Request(origin), { ...options, privateOrigins: [origin] });
    expect(await listed.text()).toBe('b');
    await expect(egress.fetch(new Request(origin), options)).rejects.toMatchObject({ code: 'forbidden' });
    expect(server.requests).toHaveLength(1);
  });
});
