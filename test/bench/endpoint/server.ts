/** The endpoint under load, for `deno serve`: signed requests, state in Deno KV, a model that writes as much text as the message requests. */

import { createUIMessageStreamResponse, streamText, toUIMessageStream } from 'ai';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { denoKvStorage } from '../../../adapters/storage/deno-kv.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import type { Issuer } from '../../../adapters/transport/signed/roots.ts';
import { createRuntime, type LanguageModel } from '../../../src/index.ts';
import { says } from '../../fixtures/model.ts';

/** The answer that a message requests from the model. */
export interface Speech {
  readonly deltas: number;
  readonly length: number;
  /** The pause before each part. */
  readonly everyMs: number;
  /** Whether the model falls silent before its end. */
  readonly stalls: boolean;
}

const model: LanguageModel = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'speaker',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
  doStream: ({ prompt }) => Promise.resolve({ stream: speak(JSON.stringify(prompt.at(-1)?.content)) }),
};

function speak(text: string) {
  const speech = JSON.parse(/\{"deltas.*?\}/.exec(text.replaceAll('\\', ''))?.[0] ?? '{}') as Speech; // the benchmark's own
  const parts = says(...Array.from({ length: speech.deltas }, () => 'x'.repeat(speech.length)));
  const spoken = speech.stalls ? parts.slice(0, -2) : parts;
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (speech.everyMs > 0) await new Promise((resolve) => setTimeout(resolve, speech.everyMs));
      const part = spoken[at++];
      if (part !== undefined) return controller.enqueue(part);
      if (!speech.stalls) return controller.close();
      await new Promise(() => undefined);
    },
  }, { highWaterMark: 0 });
}

const storage = denoKvStorage({ path: Deno.env.get('BENCH_KV') ?? ':memory:' });
const runtime = createRuntime({
  catalog: staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'p' }],
    providers: [{ id: 'p', kind: 'custom' }],
  }),
  models: { model: () => model },
  storage,
});
const handle = createHandler(runtime, {
  authenticator: createAuthenticator({
    issuers: JSON.parse(Deno.env.get('BENCH_ISSUERS') ?? '[]') as Issuer[], // checked by the authenticator
    audience: 'bench',
    authorities: ['pinnace.test'],
    storage,
  }),
  quotas: { runs: 2_000, runsPerTenant: 2_000 },
});

const { gc } = globalThis as { gc?: () => void };

function memory(): Response {
  for (let i = 0; i < 4; i++) gc?.();
  return Response.json(Deno.memoryUsage());
}

/** The peer of a run: the AI SDK alone, which verifies, records and resumes nothing. */
async function bareRun(request: Request): Promise<Response> {
  const prompt = await request.text();
  const { stream } = streamText({ model, prompt, onError: () => undefined });
  return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream }) });
}

/** The peer of a replay: only frames of the same size, created on demand. */
function bareStream(events: number, length: number): Response {
  const encoder = new TextEncoder();
  const runId = 'run_00000000000000000000000000000000';
  let seq = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++seq > events) return controller.close();
      const data = JSON.stringify({ type: 'text-delta', id: 't', delta: 'x'.repeat(length) });
      controller.enqueue(encoder.encode(`id: ${runId}:${seq}\ndata: ${data}\n\n`));
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

export default {
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/bench/memory') return memory();
    if (pathname === '/bench/rss') return Response.json({ rss: Deno.memoryUsage().rss });
    if (pathname === '/bench/run') return bareRun(request);
    if (pathname === '/bench/bare') {
      return bareStream(Number(searchParams.get('events')), Number(searchParams.get('length')));
    }
    return handle(request);
  },
} satisfies Deno.ServeDefaultExport;
