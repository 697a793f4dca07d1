import { afterEach, describe, expect, it } from 'vitest';
import { readSpans, type ReceivedSpan } from '../tools/otlp.ts';

const worker = new URL('../fixtures/processes/otel-worker.ts', import.meta.url).pathname;
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A collector of OTLP over HTTP, and what has arrived there. */
function collector() {
  const spans: ReceivedSpan[] = [];
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => undefined }, async (request) => {
    const body = new Uint8Array(await request.arrayBuffer());
    if (new URL(request.url).pathname === '/v1/traces') spans.push(...readSpans(body));
    return new Response();
  });
  open.push(() => server.shutdown());
  return { spans, origin: `http://127.0.0.1:${server.addr.port}` };
}

function start(service: string, collectorOrigin: string, ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--unstable-kv', ...args],
    env: {
      OTEL_DENO: 'true',
      OTEL_DENO_CONSOLE: 'ignore',
      OTEL_EXPORTER_OTLP_ENDPOINT: collectorOrigin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_SERVICE_NAME: service,
    },
    stdout: 'piped',
  }).spawn();
}

async function firstLine({ stdout }: Deno.ChildProcess): Promise<string> {
  const reader = stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = await reader.read();
  void reader.cancel();
  return value.trim();
}

describe("spans by Deno's own tracing", () => {
  it('are one trace over two processes, and nest from the run of the first to the run of the second', async () => {
    const { spans, origin } = collector();
    const back = start('back', origin, worker, 'serve');
    const front = start('front', origin, worker, 'ask', await firstLine(back));
    expect((await front.output()).success).toBe(true);
    back.kill('SIGTERM');
    await back.output();
    const ours = spans.filter(({ scope }) => scope === 'pinnace');
    const byName = (service: string) =>
      Object.fromEntries(ours.filter((span) => span.service === service).map((span) => [span.name, span]));
    const [first, second] = [byName('front'), byName('back')];
    expect(new Set(ours.map(({ traceId }) => traceId)).size).toBe(1);
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining(['invoke_agent ask', 'step', 'chat scripted', 'execute_tool ask_next', 'GET']),
    );
    expect(first['GET']?.parentSpanId).toBe(first['execute_tool ask_next']?.spanId);
    const around = ours.find(({ spanId }) => spanId === first['execute_tool ask_next']?.parentSpanId);
    expect(around).toMatchObject({ name: 'step', parentSpanId: first['invoke_agent ask']?.spanId });
    const run = second['invoke_agent serve'];
    const sent = spans.find(({ spanId }) => spanId === run?.parentSpanId); // Deno's own span of the request
    expect(sent).toMatchObject({ service: 'front', parentSpanId: first['GET']?.attributes['pinnace.span.id'] });
    expect(second['chat scripted']?.traceId).toBe(run?.traceId);
  });

  it('come from the endpoint for Deno without a line of code', async () => {
    const { spans, origin } = collector();
    const endpoint = start(
      'endpoint',
      origin,
      new URL('../fixtures/processes/otel-endpoint-worker.ts', import.meta.url).pathname,
    );
    expect((await endpoint.output()).success).toBe(true);
    expect(spans.find(({ name }) => name === 'invoke_agent helper')).toMatchObject({
      scope: 'pinnace',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
    });
  });
});
