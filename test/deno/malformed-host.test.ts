import { expect, it } from 'vitest';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { says, scriptedModel } from '../fixtures/model.ts';
import { testRuntime } from '../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

it.each(['127.0.0.1:99999', '[::1', 'a b', '127.0.0.1, b', '127.0.0.1/v1/healthz#', 'user@127.0.0.1'])(
  'refuses a request with the Host header "%s" as the mistake of its sender',
  async (host) => {
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage: memoryStorage() });
    const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
    const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => undefined }, handler);
    const connection = await Deno.connect({ hostname: '127.0.0.1', port: server.addr.port });
    const head = `GET /v1/openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    const text = await new Response(connection.readable).text(); // reads to the end, and closes
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('"reason":"invalid_host"');
    await server.shutdown();
  },
);
