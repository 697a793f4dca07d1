import { expect, it } from 'vitest';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { says, scriptedModel } from '../fixtures/model.ts';
import { testRuntime } from '../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

it.each([
  ['/v1/healthz', 200],
  ['/v1/healthz?next=//../%2e', 200],
  ['/v1\\healthz', 404],
  ['/v1/%2e%2e/v1/healthz', 404],
  ['/v1/../v1/healthz', 404],
  ['/v1/./healthz', 404],
  ['//v1/healthz', 404],
  ['/v1//healthz', 404],
  ['/v1/%68ealthz', 404],
  ['/v1/healthz#', 404],
  ['http://127.0.0.1/v1/x/..\\healthz', 404],
])('answers a request for %s with %i', async (target, status) => {
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage: memoryStorage() });
  const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => undefined }, handler);
  const connection = await Deno.connect({ hostname: '127.0.0.1', port: server.addr.port });
  const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const text = await new Response(connection.readable).text(); // reads to the end, and closes
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  await server.shutdown();
});
