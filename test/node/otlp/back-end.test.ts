import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OTLPTraceExporter as Exporter2 } from 'otel2-exporter';
import { BasicTracerProvider, BatchSpanProcessor as Processor2 } from 'otel2-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { eventIds } from '../../../adapters/sinks/otel-ids.ts';
import { otelSink } from '../../../adapters/sinks/otel.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { otlpSink } from '../../../demo/examples/opentelemetry/otlp-sink.ts';
import { createRuntime, defineTool, type EventSink, localPrincipal } from '../../../src/index.ts';
import { fakeModel, readRun } from '../../contracts/index.ts';
import { runRequest } from '../../fixtures/runtime.ts';
import { closeServer, listen } from '../../tools/servers/http-server.ts';

interface JsonSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Received {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[] }[];
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const credentials = `Basic ${btoa('pk-lf-1:sk-lf-1')}`;

/** A back end that takes OTLP over HTTP as Langfuse does: at a path of its own, with a key and a secret. */
async function startBackEnd() {
  const spans: JsonSpan[] = [];
  const bodies: string[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const { authorization, 'content-type': type } = request.headers;
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => body += text);
    request.on('end', () => {
      const isRight = request.url === '/api/public/otel/v1/traces' && authorization === credentials;
      if (!isRight || type !== 'application/json') {
        refused.push(`${request.url} ${authorization} ${type}`);
        return response.writeHead(401).end();
      }
      bodies.push(body);
      const { resourceSpans } = JSON.parse(body) as Received;
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const origin = await listen(server);
  closers.push(() => closeServer(server));
  return { url: `${origin}/api/public/otel/v1/traces`, spans, bodies, refused };
}

/** What `otlp-sink.ts` does, with SDK 2. */
function otlpSink2({ url, headers }: Parameters<typeof otlpSink>[0]) {
  const ids = eventIds();
  const spanProcessors = [new Processor2(new Exporter2({ url, headers }))];
  const tracerProvider = new BasicTracerProvider({ idGenerator: ids, spanProcessors });
  const otel = otelSink({ tracerProvider, ids });
  return { sink: otel.sink, close: () => (otel.close(), tracerProvider.shutdown()) };
}

/** Runs a lead that asks a librarian, who looks something up. */
async function runNested(sink: EventSink): Promise<void> {
  const lead = fakeModel({ calls: [{ tool: 'ask', input: { task: 'secret-task' } }] }, 'It was 1911');
  const librarian = fakeModel({ calls: [{ tool: 'look_up', input: {} }] }, 'secret-answer');
  const lookUp = defineTool({
    id: 'look_up',
    description: 'Looks up',
    input: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    execute: () => 'secret-output',
  });
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [
        { id: 'helper', name: 'Lead', providerId: 'large', entryTools: ['ask'] },
        { id: 'librarian', name: 'Librarian', providerId: 'small', entryTools: ['look_up'] },
      ],
      providers: [{ id: 'large', kind: 'custom' }, { id: 'small', kind: 'custom' }],
      tools: [{
        id: 'ask',
        name: 'ask',
        type: 'agent',
        description: 'Asks',
        paramsSchema: { type: 'object' },
        config: { agentId: 'librarian' },
      }],
    }),
    models: { model: ({ id }) => id === 'large' ? lead.model : librarian.model },
    storage: memoryStorage(),
    tools: [lookUp],
    sinks: [sink],
  });
  expect((await readRun(await runtime.run(runRequest(), localPrincipal()))).text).toBe('It was 1911');
  await runtime.close();
}

/** Each span as the names on the way to it. */
function pathsOf(spans: readonly JsonSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = ({ name, parentSpanId = '' }: JsonSpan): string => {
    const parent = byId.get(parentSpanId);
    return parent ? `${pathOf(parent)} > ${name}` : name;
  };
  return spans.map(pathOf);
}

describe.each([['3', otlpSink], ['2', otlpSink2]])('a back end with OTLP, behind OpenTelemetry SDK %s', (_, create) => {
  it('receives the spans of nested agents as one tree, without prompts, inputs and outputs', async () => {
    const backEnd = await startBackEnd();
    const { sink, close } = create({ url: backEnd.url, headers: { Authorization: credentials } });
    await runNested(sink);
    await close();
    expect(backEnd.refused).toEqual([]);
    const asked = 'invoke_agent helper > step > execute_tool ask > plan > invoke_agent librarian';
    const paths = pathsOf(backEnd.spans);
    for (
      const path of [
        'invoke_agent helper > step > chat fake',
        `${asked} > step > chat fake`,
        `${asked} > execute_tool look_up`,
      ]
    ) {
      expect(paths).toContain(path);
    }
    expect(paths.filter((path) => !path.includes(' > '))).toEqual(['invoke_agent helper']);
    expect(new Set(backEnd.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(backEnd.bodies.join()).not.toMatch(/secret-/);
  });

  it('gets nothing after the process has closed the sink, and a wrong key does not fail a run', async () => {
    const backEnd = await startBackEnd();
    const { sink, close } = create({ url: backEnd.url, headers: { Authorization: 'Basic wrong' } });
    await runNested(sink);
    await close().catch(() => undefined);
    expect(backEnd.refused.length).toBeGreaterThan(0);
    expect(backEnd.spans).toEqual([]);
  });
});

it('stands in the guide with the lines that are tested', async () => {
  const root = join(import.meta.dirname, '../../..');
  const example = await readFile(join(root, 'demo/examples/opentelemetry/otlp-sink.ts'), 'utf8');
  const guide = await readFile(join(root, 'docs/opentelemetry.md'), 'utf8');
  const code = example.slice(example.indexOf('import '));
  expect(guide).toContain(code);
});
