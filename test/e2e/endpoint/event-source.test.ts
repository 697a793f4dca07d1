import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { chromium as browserType } from 'playwright';
import { expect, it } from 'vitest';
import { createHandler } from '../../../adapters/transport/http.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { localPrincipal } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { chromium } from '../../tools/browsers/chromium.ts';

const token = 'a-token-for-tests-only';

/** A relay that adds what `EventSource` cannot send, and cuts each connection after some bytes. */
async function startRelay(serve: (request: Request) => Promise<Response>, bytes: number) {
  let connections = 0;
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      connections += 1;
      const headers = new Headers({ authorization: `Bearer ${token}` });
      const last = incoming.headers['last-event-id'];
      if (last !== undefined) headers.set('last-event-id', String(last));
      const response = await serve(new Request(`http://127.0.0.1${incoming.url}`, { headers }));
      outgoing.writeHead(response.status, {
        ...Object.fromEntries(response.headers),
        'access-control-allow-origin': '*',
      });
      let left = bytes;
      for await (const chunk of response.body ? Readable.fromWeb(response.body as never) : []) {
        outgoing.write((chunk as Uint8Array).subarray(0, left));
        left -= (chunk as Uint8Array).length;
        if (left <= 0) break;
      }
      outgoing.end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connections: () => connections, close: () => server.close() };
}

it('a native EventSource reads every event once over cut connections, and stops by itself at the end', async () => {
  const runtime = testRuntime(scriptedModel(says(...Array.from({ length: 60 }, (_, i) => `w${i} `))));
  const { runId, ended } = await runtime.start(runRequest(), localPrincipal(), {});
  await ended;
  const { lastSeq } = await runtime.runs.status(localPrincipal(), runId);
  // The development authenticator's tenant is not the local one: read as the run's own principal.
  const authenticator = {
    authenticate: async (
      request: Request,
    ) => (await developmentAuthenticator({ token }).authenticate(request), localPrincipal()),
  };
  const relay = await startRelay(createHandler(runtime, { authenticator }), 2_500);
  const browser = await browserType.launch(chromium);
  try {
    const page = await browser.newPage();
    const ids = await page.evaluate((url) =>
      new Promise<string[]>((resolve) => {
        const seen: string[] = [];
        const source = new EventSource(url);
        source.addEventListener('message', (event) => void seen.push(event.lastEventId));
        // 204 ends the reconnecting: the source is then closed.
        source.addEventListener('error', () => source.readyState === EventSource.CLOSED && resolve(seen));
      }), `${relay.url}/v1/runs/${runId}/stream`);
    // The closing `[DONE]` carries the id of the last event.
    expect(ids).toEqual([...Array.from({ length: lastSeq }, (_, i) => `${runId}:${i + 1}`), `${runId}:${lastSeq}`]);
    expect(relay.connections()).toBeGreaterThan(2);
  } finally {
    await browser.close();
    relay.close();
  }
});
