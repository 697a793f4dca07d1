/**
 * What a run costs beside the bare AI SDK, on the same scripted model: three tool calls, then a hundred chunks of text, as
 * server-sent events read to the end. CPU per run, time to the first chunk, memory of streams held.
 */

import { toJsonSchema } from '@valibot/to-json-schema';
import {
  createUIMessageStreamResponse,
  experimental_streamTextLowMemory as streamTextLowMemory,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
} from 'ai';
import process from 'node:process';
import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import { createRuntime, defineTool, type LanguageModel, localPrincipal } from '../../../src/index.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { collect, cpuRounds, median, quantile, ratioOf, report, type Row } from '../measure.ts';

const input = v.object({ q: v.pipe(v.string(), v.minLength(1)), limit: v.optional(v.number(), 10) });
const execute = ({ q, limit }: v.InferOutput<typeof input>) => ({ q, hits: limit });
const lookup = { id: 'lookup', description: 'look something up', input, execute };
const calls = callsTools(...[0, 1, 2].map((i) => ({ tool: 'lookup', input: { q: `query ${i}`, limit: 5 } })));
const answer = says(...Array.from({ length: 100 }, (_, i) => `token${i} `));
const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] }];

type Variant = (model: LanguageModel) => ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;

const sdkTools = {
  lookup: tool({
    description: lookup.description,
    // The SDK's schema adapter with validation, as its documentation recommends.
    inputSchema: jsonSchema<v.InferOutput<typeof input>>(toJsonSchema(input, { typeMode: 'input' }) as object, {
      validate(value) {
        const result = v.safeParse(input, value);
        return result.success
          ? { success: true, value: result.output }
          : { success: false, error: new v.ValiError(result.issues) };
      },
    }),
    execute,
  }),
};

function bare(stream: typeof streamText | typeof streamTextLowMemory): Variant {
  return (model) => {
    const result = stream({ model, tools: sdkTools, prompt: 'hello', stopWhen: isStepCount(5), onError() {} });
    return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream: result.stream }) }).body!;
  };
}

function pinnace(): Variant {
  let current: LanguageModel;
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools: ['lookup'] }],
      providers: [{ id: 'p', kind: 'custom' }],
    }),
    models: { model: () => current },
    storage: memoryStorage(),
    tools: [defineTool(lookup)],
  });
  const principal = localPrincipal();
  return async (model) => {
    current = model;
    const { runId } = await runtime.start({ agentId: 'a', chat: { id: 'c', messages } }, principal, {});
    const cursor = await runtime.runs.cursor(principal, runId, 0);
    return encodeSse(cursor, { runId, keepAliveMs: 15_000, metrics: runtime.metrics });
  };
}

const peer = 'AI SDK: streamText -> SSE';
const variants: Record<string, Variant> = {
  [peer]: bare(streamText),
  'AI SDK: low memory -> SSE': bare(streamTextLowMemory),
  'Pinnace: run -> SSE': pinnace(),
};

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

async function measureCpu(): Promise<Row[]> {
  const runs = Object.fromEntries(
    Object.entries(variants).map((
      [name, run],
    ) => [name, async () => drain(await run(scriptedModel(calls, answer).model))]),
  );
  const times = await cpuRounds(runs, { rounds: 7, calls: 200, warmup: 300 });
  return Object.entries(times).map(([name, rounds]) => {
    const ratio = ratioOf(rounds, times[peer]);
    const theirs = `${median(times[peer] ?? []).toFixed(2)} ms/run`;
    const ours = name.startsWith('Pinnace') && { peer: theirs, bar: '<= 1.15', met: ratio <= 1.15 };
    return { figure: `CPU, ${name}`, value: `${median(rounds).toFixed(2)} ms/run`, ratio: ratio.toFixed(3), ...ours };
  });
}

async function firstChunkMs(run: Variant): Promise<number> {
  const start = performance.now();
  const reader = (await run(scriptedModel(answer).model)).getReader();
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (decoder.decode(next.value).includes('token0')) break;
  }
  const elapsed = performance.now() - start;
  await reader.cancel();
  return elapsed;
}

async function measureFirstChunk(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(variants)) {
    const times: number[] = [];
    for (let i = 0; i < 500; i++) times.push(await firstChunkMs(run));
    const settled = times.slice(200);
    const value = `p50 ${quantile(settled, 0.5).toFixed(2)} ms, p95 ${quantile(settled, 0.95).toFixed(2)} ms`;
    rows.push({ figure: `First chunk, ${name}`, value });
  }
  return rows;
}

/** Holds streams that have made their tool calls and have sent half of the text. */
async function measureMemory(): Promise<Row[]> {
  const count = 1000;
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(variants)) {
    for (let i = 0; i < 50; i++) await drain(await run(scriptedModel(calls, answer).model));
    await settle();
    const before = process.memoryUsage().heapUsed;
    const held: ReadableStreamDefaultReader<Uint8Array>[] = [];
    for (let i = 0; i < count; i++) {
      const reader = (await run(scriptedModel(calls, () => stallingStream(answer.slice(0, 52))).model)).getReader();
      held.push(reader);
      void (async () => {
        while (!(await reader.read()).done);
      })();
    }
    await settle();
    const perStream = (process.memoryUsage().heapUsed - before) / 1024 / count;
    rows.push({ figure: `${count} streams held, ${name}`, value: `${perStream.toFixed(0)} KiB heap each` });
    await Promise.all(held.map((reader) => reader.cancel()));
    await settle();
  }
  return rows;
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 800));
  collect();
}

report('Overhead of a run', [...await measureCpu(), ...await measureFirstChunk(), ...await measureMemory()]);
process.exit(0); // what is held must not keep the process
