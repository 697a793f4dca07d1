import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { denoEgress, type DenoEgressOptions } from '../../adapters/egress/deno.ts';
import { canary, reasonOf, terms } from '../fixtures/egress.ts';
import { serve } from '../fixtures/loopback.ts';
import { readText } from '../../src/base/read-text.ts';

const hello: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('hello');
};

/** What loopback servers need, and only tests ask for: plain http, and 127.0.0.1 for a public address. */
function testEgress(options: DenoEgressOptions = {}) {
  return denoEgress({
    schemes: ['http'],
    resolve: () => Promise.resolve(['127.0.0.1']),
    isPublicAddress: (ip) => ip === '127.0.0.1',
    ...options,
  });
}

const host = 'api.example.net';

describe('denoEgress', () => {
  it('sends to a checked address under the name that was asked for', async () => {
    const server = await serve(hello);
    const origin = server.origin(host);
    const answer = await testEgress().fetch(
      new Request(`${origin}/a?b=c`, {
        method: 'POST',
        body: '{"a":"ü"}',
        headers: { 'content-type': 'application/json' },
      }),
      terms({ origins: [origin], secretHeaders: { authorization: ['Bearer ', canary] } }),
    );
    expect(await answer.text()).toBe('hello');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(server.requests).toMatchObject([{ url: '/a?b=c', body: '{"a":"ü"}' }]);
    expect(server.requests[0]?.headers).toMatchObject({
      host: origin.slice('http://'.length),
      authorization: `Bearer ${canary.reveal()}`,
      'content-length': '10',
      'accept-encoding': 'identity',
    });
  });

  it('reaches a listed server of this machine, by its address', async () => {
    const server = await serve(hello);
    const origin = server.origin('127.0.0.1');
    const request = (): Request => new Request(`${origin}/a`);
    const listed = denoEgress({ loopback: [origin] });
    expect(await (await listed.fetch(request(), terms({ origins: [origin] }))).text()).toBe('hello');
    expect(await reasonOf(denoEgress({ schemes: ['http'] }).fetch(request(), terms({ origins: [origin] })))).toBe(
      'forbidden: url_refused',
    );
    expect(server.sockets).toBe(1);
  });

  it('reaches a private origin that the composition allows, by name too, and none by its record alone', async () => {
    const server = await serve(hello);
    const named = server.origin('models.internal');
    const egress = denoEgress({ resolve: () => Promise.resolve(['127.0.0.1']), canPin: () => Promise.resolve(false) });
    for (const origin of [named, server.origin('127.0.0.1')]) {
      const allowed = terms({ origins: [origin], privateOrigins: [origin] });
      expect(await (await egress.fetch(new Request(origin), allowed)).text()).toBe('hello');
      expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
        'forbidden: url_refused',
      );
    }
    expect(server.sockets).toBe(2);
  });

  it('knows that this platform asks the look-up', async () => {
    expect(await denoEgress().isReady()).toBe(true);
  });

  it('sends nothing where the platform would not ask', async () => {
    const server = await serve(hello);
    const origin = server.origin(host);
    for (const canPin of [() => Promise.resolve(false), () => Promise.reject(new Error('Not implemented'))]) {
      const egress = testEgress({ canPin });
      expect(await egress.isReady()).toBe(false);
      expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
        'unavailable: egress_unpinned',
      );
    }
    expect(server.sockets).toBe(0);
  });

  it('opens no second socket to what a name is rebound to', async () => {
    const server = await serve(hello);
    const origin = server.origin('rebind.example.net');
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const egress = testEgress({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    expect(await (await egress.fetch(new Request(origin), terms({ origins: [origin] }))).text()).toBe('hello');
    expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'forbidden: address_not_public',
    );
    expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'forbidden: address_not_public',
    );
    expect(server.sockets).toBe(1);
  });

  it('opens no socket when one of several addresses is private, or none is there', async () => {
    const server = await serve(hello);
    const origin = server.origin(host);
    for (const ips of [['127.0.0.1', '10.0.0.5'], ['169.254.169.254'], ['not an address'], []]) {
      const egress = testEgress({ resolve: () => Promise.resolve(ips) });
      expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
        'forbidden: address_not_public',
      );
    }
    const lost = testEgress({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await reasonOf(lost.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'unavailable: host_not_found',
    );
    expect(server.sockets).toBe(0);
  });

  it('opens no socket for a URL that is refused', async () => {
    const server = await serve(hello);
    const own = server.origin('127.0.0.1');
    const egress = testEgress({ schemes: ['http', 'https'] });
    for (
      const url of [
        own,
        own.replace('127.0.0.1', 'localhost'),
        own.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
        server.origin(host),
      ]
    ) {
      for (const origins of ['any' as const, ['https://api.example.com'], [own]]) {
        expect(await reasonOf(egress.fetch(new Request(url), terms({ origins })))).toBe('forbidden: url_refused');
      }
    }
    expect(server.sockets).toBe(0);
  });

  it('opens no socket with the rules of production', async () => {
    const server = await serve(hello);
    const origin = server.origin('localhost.example.net');
    const egress = denoEgress({ schemes: ['http'], resolve: () => Promise.resolve(['127.0.0.1']) });
    expect(await reasonOf(egress.fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'forbidden: address_not_public',
    );
    expect(server.sockets).toBe(0);
  });

  it('checks an address in the URL by the same rule', async () => {
    const egress = denoEgress({ schemes: ['http'], isPublicAddress: () => false });
    expect(await reasonOf(egress.fetch(new Request('http://93.184.216.34/'), terms({ origins: 'any' })))).toBe(
      'forbidden: address_not_public',
    );
  });

  it('follows no redirect to the metadata service, nor to itself without end', async () => {
    const server = await serve((request, response) => {
      const location = request.url === '/loop' ? '/loop' : 'http://169.254.169.254/latest/meta-data/';
      response.writeHead(302, { location }).end();
    });
    const origin = server.origin(host);
    for (const path of ['/metadata', '/loop']) {
      const work = testEgress().fetch(new Request(origin + path), terms({ origins: [origin] }));
      expect(await reasonOf(work)).toMatch(/^forbidden: (url|redirect)_refused$/);
    }
    expect(server.requests.filter(({ url }) => url === '/metadata')).toHaveLength(1);
    expect(server.requests.filter(({ url }) => url === '/loop')).toHaveLength(6);
  });

  it('takes no secret and no header of its own to another origin', async () => {
    const other = await serve(hello);
    const first = await serve((_request, response) => {
      response.writeHead(302, { location: `${other.origin('cdn.example.net')}/b` }).end();
    });
    const origins = [first.origin(host), other.origin('cdn.example.net')];
    const request = new Request(`${first.origin(host)}/a`, { headers: { 'x-own': '1' } });
    const answer = await testEgress().fetch(
      request,
      terms({ origins, secretHeaders: { authorization: ['Bearer ', canary] } }),
    );
    expect(await answer.text()).toBe('hello');
    expect(first.requests[0]?.headers).toHaveProperty('authorization');
    expect(Object.keys(other.requests[0]?.headers ?? {}).toSorted()).toEqual([
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  it('reads no more than it may, and lets go of the socket', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const fill = (): void => void response.write('x'.repeat(65_536));
      response.on('drain', fill).on('close', closed.resolve);
      fill();
    });
    const origin = server.origin(host);
    const answer = await testEgress().fetch(new Request(origin), terms({ origins: [origin], maxBytes: 100_000 }));
    expect(await reasonOf(readText(answer.body))).toBe('budget_exceeded: response_too_large');
    await closed.promise;
  });

  it('waits no longer than it may for an answer that drips', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('x');
      response.on('close', closed.resolve);
    });
    const origin = server.origin(host);
    // On a slow machine the time may be over with the head.
    const read = async (): Promise<string> => {
      const answer = await testEgress().fetch(new Request(origin), terms({ origins: [origin], timeoutMs: 100 }));
      return await readText(answer.body);
    };
    expect(await reasonOf(read())).toMatch(/^deadline_exceeded/);
    await closed.promise;
  });

  it('waits no longer than it may for a head, and ends with its caller', async () => {
    const server = await serve(() => {});
    const origin = server.origin(host);
    const request = (): Request => new Request(origin);
    expect(await reasonOf(testEgress().fetch(request(), terms({ origins: [origin], timeoutMs: 50 })))).toMatch(
      /^deadline_exceeded/,
    );
    const stuck = testEgress({ resolve: () => new Promise(() => {}) });
    expect(await reasonOf(stuck.fetch(request(), terms({ origins: [origin], timeoutMs: 10 })))).toMatch(
      /^deadline_exceeded/,
    );
    const own = new AbortController();
    const work = reasonOf(testEgress().fetch(request(), terms({ origins: [origin], signal: own.signal })));
    own.abort();
    expect(await work).toMatch(/^cancelled/);
  });

  it('refuses an answer that is compressed: what is read is what is counted', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('x');
    });
    const origin = server.origin(host);
    expect(await reasonOf(testEgress().fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'unavailable: content_encoding',
    );
  });

  it('reports a connection that is refused or breaks off', async () => {
    const server = await serve((_request, response) => response.destroy());
    const origin = server.origin(host);
    expect(await reasonOf(testEgress().fetch(new Request(origin), terms({ origins: [origin] })))).toBe(
      'unavailable: unreachable',
    );
    const broken = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '10' });
      response.write('x', () => response.destroy());
    });
    const answer = await testEgress().fetch(
      new Request(broken.origin(host)),
      terms({ origins: [broken.origin(host)] }),
    );
    expect(await reasonOf(readText(answer.body))).toBe('unavailable: unreachable');
  });

  it('answers a HEAD and a 204 without a body', async () => {
    const server = await serve((request, response) => {
      response.writeHead(request.method === 'HEAD' ? 200 : 204, { 'content-type': 'text/plain' }).end();
    });
    const origin = server.origin(host);
    for (const method of ['HEAD', 'GET', 'DELETE']) {
      const answer = await testEgress().fetch(new Request(origin, { method }), terms({ origins: [origin] }));
      expect(answer.body).toBeNull();
    }
  });
});
