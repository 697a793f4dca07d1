import { expect, it } from 'vitest';
import { cutSenders } from '../../adapters/transport/cut-senders.ts';

it('keeps a connection open when the body that the handler stopped arrives all the same', async () => {
  const handler = cutSenders(async (request) => {
    await request.body?.cancel();
    return new Response('no', { status: 401 });
  });
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => undefined }, handler);
  const connection = await Deno.connect({ hostname: '127.0.0.1', port: server.addr.port });
  const post = 'POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nbody';
  const buffer = new Uint8Array(4096);
  for (const _ of [1, 2]) {
    await connection.write(new TextEncoder().encode(post));
    let text = '';
    while (!text.endsWith('no')) {
      text += new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    }
    expect(text).toMatch(/^HTTP\/1.1 401 /);
  }
  connection.close();
  await server.shutdown();
});
