import { expect, it } from 'vitest';
import { denoKvStorage } from '../../adapters/storage/deno-kv.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import {
  createPrincipal,
  localPrincipal,
  PinnaceError,
  type ProblemCode,
  type UIMessageChunk,
} from '../../src/index.ts';
import { goldenRequests } from '../fixtures/golden/golden-requests.ts';
import { denoSandbox } from '../../adapters/sandbox/deno.ts';
import { goldenRuntime, transcriptOf, transcriptsInProcess } from '../fixtures/golden/golden.ts';
import { streamOf } from '../fixtures/model.ts';
import golden from '../fixtures/golden/golden.json' with { type: 'json' };

const token = 'a-token-for-tests-only';

it('the golden requests give the transcripts on record over HTTP on Deno, with Deno KV', async () => {
  const storage = denoKvStorage({ path: ':memory:' });
  const developer = createPrincipal({ ...localPrincipal(), tenant: 'development', subject: 'developer' });
  const handler = createHandler(await goldenRuntime({ storage, sandbox: denoSandbox(), caller: developer }), {
    authenticator: developmentAuthenticator({ token }),
  });
  await using server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, (request) => handler(request));
  const post = async (path: string, body: unknown): Promise<Response> => {
    const response = await fetch(`http://127.0.0.1:${server.addr.port}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'authorization': `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `"${crypto.randomUUID()}"`,
      },
    });
    if (!response.ok) throw toError(await response.json());
    return response;
  };
  for (const [i, request] of goldenRequests.entries()) {
    const transcript = await transcriptOf(request, {
      run: async (one) => chunksOf(await (await post('/v1/runs', one)).text()),
      decide: async (runId, approvalId, approved) =>
        void await (await post(`/v1/runs/${runId}/approvals/${approvalId}`, { approved })).text(),
    });
    expect(transcript, request.request.agentId).toEqual(golden[i]);
  }
  await storage.close();
});

it('so does Deno, to members of a group and over the end of a process', async () => {
  const storageOf = () => denoKvStorage({ path: ':memory:' });
  expect(await transcriptsInProcess(denoSandbox(), storageOf)).toEqual(golden.slice(goldenRequests.length));
});

function toError({ code, detail, retryable, details }: Record<string, unknown>): PinnaceError {
  return new PinnaceError(String(code) as ProblemCode, String(detail), {
    retryable: Boolean(retryable),
    details: details as Record<string, unknown>,
  });
}

function chunksOf(events: string): ReadableStream<UIMessageChunk> {
  const data = events.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
  return streamOf(data.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text) as UIMessageChunk));
}
