import { describe, expect, it } from 'vitest';
import type { BodyLimits } from '../../adapters/transport/signed/body.ts';

const worker = new URL('../fixtures/processes/trickling-worker.ts', import.meta.url).pathname;
const token = 'a-token-for-tests-only';
const count = 500;
const deadlineMs = 1_500;
/** Deno itself takes about 200 for 500 connections: 64 KiB for each piece of a body, until its garbage collector runs. */
const mostMegabytes = 400;

/**
 * Sends the headers of a POST and a body that never ends, a byte every `everyMs`; resolves with what came back once the server has
 * closed.
 */
async function trickle(port: number, authorization: string, everyMs = 100): Promise<string> {
  const connection = await Deno.connect({ hostname: '127.0.0.1', port });
  connection.setNoDelay(true);
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
      await new Promise((resolve) => setTimeout(resolve, everyMs));
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

/** Sends a body in chunks of one byte, as fast as the server takes them, up to 16 MiB; resolves with the answer. */
async function flood(port: number): Promise<string> {
  const connection = await Deno.connect({ hostname: '127.0.0.1', port });
  const head = [
    'POST /v1/runs HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Idempotency-Key: "${crypto.randomUUID()}"`,
    'Transfer-Encoding: chunked',
    '\r\n',
  ];
  const chunks = new TextEncoder().encode('1\r\na\r\n'.repeat(8_192));
  let open = true;
  const send = async (): Promise<void> => {
    await connection.write(new TextEncoder().encode(head.join('\r\n')));
    for (let sent = 0; open && sent < 2_048; sent++) await connection.write(chunks);
  };
  const sending = send().catch(() => undefined);
  let text = '';
  try {
    for await (const chunk of connection.readable) {
      text += new TextDecoder().decode(chunk);
      open = false;
    }
  } catch {
    // The server has closed while bytes were on their way to it.
  }
  await sending;
  return text;
}

/** An endpoint in a process of its own: the memory that is measured there is not that of the senders. */
async function startServer(bodies: Partial<BodyLimits>) {
  const process = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', worker, token, JSON.stringify(bodies)],
    stdin: 'piped',
    stdout: 'piped',
  }).spawn();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const nextNumber = async (): Promise<number> => Number((await lines.read()).value);
  return {
    port: await nextNumber(),
    /** Stops it, and returns by how many bytes its resident memory had grown at most. */
    async stop(): Promise<number> {
      await process.stdin.close();
      const grown = await nextNumber();
      await lines.cancel();
      await process.status;
      return grown;
    },
  };
}

/** The status of each answer, and how often it came. */
function statuses(answers: readonly string[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const answer of answers) {
    const status = answer.split(' ')[1] ?? 'none';
    all[status] = (all[status] ?? 0) + 1;
  }
  return all;
}

function atLeast(least: number): unknown {
  return expect.toSatisfy((value) => value >= least, `at least ${least}`);
}

describe('trickling POSTs over HTTP', () => {
  it.each([
    ['authenticated', `Bearer ${token}`, { perTenant: 1000, perAddress: 1000, total: 1000 }, { 408: count }],
    // A body that is closed makes room: on a busy machine some bodies arrive only then.
    ['authenticated, over the limit of a tenant', `Bearer ${token}`, { perTenant: 64 }, {
      408: atLeast(64),
      429: atLeast(64),
    }],
    ['unauthenticated', 'Bearer wrong', {}, { 401: count }],
  ])('are all closed within the deadline when they are %s', async (_name, authorization, limits, expected) => {
    const server = await startServer({ deadlineMs, ...limits });
    const answers = await Promise.all(Array.from({ length: count }, () => trickle(server.port, authorization)));
    expect(statuses(answers)).toEqual(expected);
    expect(answers).toHaveLength(count);
    expect(await server.stop() / 1_048_576).toBeLessThan(mostMegabytes);
  }, 40_000);

  it('are refused when they send single bytes at full speed, while others are answered', async () => {
    const server = await startServer({});
    const answers = await Promise.all([1, 2, 3].map(() => flood(server.port)));
    expect(statuses(answers)).toEqual({ 400: 3 });
    for (const answer of answers) expect(answer).toContain('body_in_pieces');
    expect(await server.stop() / 1_048_576).toBeLessThan(mostMegabytes);
  }, 40_000);

  it(
    'hold what has arrived, and not the buffer of each piece, when they send single bytes as fast as they can',
    async () => {
      const server = await startServer({ deadlineMs: 4_000 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => trickle(server.port, `Bearer ${token}`, 0)));
      expect(statuses(answers)).toEqual({ 408: 20 });
      expect(await server.stop() / 1_048_576).toBeLessThan(mostMegabytes);
    },
    40_000,
  );
});
