import { describe, expect, it } from 'vitest';
import { cutSenders } from '../../adapters/transport/cut-senders.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { says, scriptedModel } from '../fixtures/model.ts';
import { testRuntime } from '../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
const count = 500;
const deadlineMs = 1_500;

/** Sends the headers of a POST and a body that never ends; resolves with what came back once the server has closed. */
async function trickle(port: number, authorization: string): Promise<string> {
  const connection = await Deno.connect({ hostname: '127.0.0.1', port });
  const head = [
    'POST /v1/runs HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    `Idempotency-Key: "${crypto.randomUUID()}"`,
    'Content-Length: 60000',
    '',
    '{"agentId": "',
  ];
  let open = true;
  const send = async (): Promise<void> => {
    await connection.write(new TextEncoder().encode(head.join('\r\n')));
    while (open) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (open) await connection.write(new Uint8Array([0x61]));
    }
  };
  const sending = send().catch(() => undefined);
  let text = '';
  try {
    for await (const chunk of connection.readable) text += new TextDecoder().decode(chunk);
  } catch {
    // The server has closed while bytes were on their way to it.
  }
  open = false;
  await sending;
  return text;
}

/** Deno reports each connection that was closed. */
const onError = (): Response => new Response(null, { status: 500 });

/** The status of each answer, and how often it came. */
function statuses(answers: readonly string[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const answer of answers) {
    const status = answer.split(' ')[1] ?? 'none';
    all[status] = (all[status] ?? 0) + 1;
  }
  return all;
}

describe('trickling POSTs over HTTP', () => {
  it.each([
    ['authenticated', `Bearer ${token}`, { perTenant: 1000, perAddress: 1000, total: 1000 }, { 408: count }],
    ['authenticated, over the limit of a tenant', `Bearer ${token}`, {}, { 408: 64, 429: count - 64 }],
    ['unauthenticated', 'Bearer wrong', {}, { 401: count }],
  ])('are all closed within the deadline when they are %s', async (_name, authorization, limits, expected) => {
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model });
    const authenticator = developmentAuthenticator({ token });
    const handler = cutSenders(createHandler(runtime, { authenticator, bodies: { deadlineMs, ...limits } }));
    const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => undefined, onError }, handler);
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: count }, () => trickle(server.addr.port, authorization)));
    expect(statuses(answers)).toEqual(expected);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await server.shutdown();
  }, 40_000);
});
