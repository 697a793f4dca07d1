/**
 * One process of the paced benchmark: runs a variant with many runs at once, in waves or held open, and prints what it cost as one
 * line of JSON.
 */

import { createUIMessageStreamResponse, streamText, toUIMessageStream } from 'ai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import postgres from 'postgres';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { denoKvStorage } from '../../../adapters/storage/deno-kv.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { createRuntime, type LanguageModel, localPrincipal } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { cpuMs, median, quantile } from '../measure.ts';

/** What one process has measured in waves. */
export interface Measured {
  readonly cpuPerRun: number;
  readonly firstByteP50: number;
  readonly firstByteP99: number;
  /** The longest pause between two reads of a run: its 99th percentile over the runs. */
  readonly pauseP99: number;
  readonly rss: number;
  /** Of the storage, for each run. */
  readonly commits: number;
  readonly changes: number;
}

const chunks = 60;
const chunkMs = 20;
const script = says(...Array.from({ length: chunks }, (_, i) => `token${i} `));
const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] }];
const [variant = 'sdk', atOnce = '16', waves = '3'] = process.argv.slice(2);
/** Instead of waves, the streams of one wave stay open after their first words. */
const isHeld = waves === 'held';

/** A model that speaks 50 tokens a second, or its first ones alone. */
function pacedModel(): LanguageModel {
  return scriptedModel(() => {
    let next = 0;
    return new ReadableStream({
      async pull(controller) {
        const part = script[next++];
        if (part === undefined) return controller.close();
        if (isHeld && next > 10) await new Promise(() => undefined);
        if (part.type === 'text-delta') await new Promise((resolve) => setTimeout(resolve, chunkMs));
        controller.enqueue(part);
      },
    }, { highWaterMark: 0 });
  }).model;
}

type Start = () => Promise<ReadableStream<Uint8Array>> | ReadableStream<Uint8Array>;

const counts = { commits: 0, changes: 0 };

function counted(storage: Storage): Storage {
  return {
    ...storage,
    commit(changes) {
      counts.commits += 1;
      counts.changes += changes.filter(({ keep }) => !keep).length;
      return storage.commit(changes);
    },
  };
}

function ours(storage: Storage): Start {
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p' }],
      providers: [{ id: 'p', kind: 'custom' }],
    }),
    models: { model: pacedModel },
    storage: counted(storage),
  });
  const principal = localPrincipal();
  let chats = 0;
  return async () => {
    const { runId } = await runtime.start({ agentId: 'a', chat: { id: `c${chats++}`, messages } }, principal, {});
    const cursor = await runtime.runs.cursor(principal, runId, 0);
    return encodeSse(cursor, { runId, keepAliveMs: 15_000, metrics: runtime.metrics });
  };
}

function sdk(): ReadableStream<Uint8Array> {
  const { stream } = streamText({ model: pacedModel(), prompt: 'hello', onError() {} });
  return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream }) }).body!;
}

const folder = await mkdtemp(join(tmpdir(), 'paced-'));
const starts: Record<string, () => Start> = {
  'sdk': () => sdk,
  'memory': () => ours(memoryStorage()),
  'deno-kv': () => ours(denoKvStorage({ path: join(folder, 'state.kv') })),
  'postgres': () => ours(postgresStorage({ connect: connectPostgres })),
};

/** The server runs in the process of the benchmark, which names its socket. */
function connectPostgres(options: Parameters<ConnectPostgres>[0]): ReturnType<ConnectPostgres> {
  const path = process.env['BENCH_POSTGRES'];
  if (path === undefined) throw new Error('Set BENCH_POSTGRES to the socket of a PostgreSQL');
  return postgres({ path, user: 'pinnace', database: 'postgres', max: 4, ...options });
}

interface OneRun {
  readonly firstByteMs: number;
  readonly pauseMs: number;
}

async function drain(start: Start): Promise<OneRun> {
  const startedAt = performance.now();
  const reader = (await start()).getReader();
  const decoder = new TextDecoder();
  let firstByteMs: number | undefined;
  let [pauseMs, lastAt] = [0, 0];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (!decoder.decode(next.value).includes('token')) continue;
    const at = performance.now();
    if (firstByteMs === undefined) firstByteMs = at - startedAt;
    else pauseMs = Math.max(pauseMs, at - lastAt);
    lastAt = at;
  }
  return { firstByteMs: firstByteMs ?? NaN, pauseMs };
}

/** Reads the first words of a stream, and keeps its reader. */
async function open(start: Start): Promise<unknown> {
  const reader = (await start()).getReader();
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (decoder.decode(next.value).includes('token')) return reader;
  }
  throw new Error('A held stream has ended');
}

/** The memory of the process while it holds its streams, which start 100 at once, in MiB. */
async function holdAll(start: Start): Promise<number> {
  const held: unknown[] = [];
  while (held.length < Number(atOnce)) held.push(...await Promise.all(Array.from({ length: 100 }, () => open(start))));
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const rss = process.memoryUsage.rss() / 1_048_576;
  return held.length === Number(atOnce) ? rss : NaN;
}

const start = starts[variant]?.();
if (!start) throw new Error(`No variant ${variant}`);
if (isHeld) {
  console.log(JSON.stringify({ rss: await holdAll(start) } satisfies Pick<Measured, 'rss'>));
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
}
const wave = () => Promise.all(Array.from({ length: Number(atOnce) }, () => drain(start)));
await wave();
Object.assign(counts, { commits: 0, changes: 0 });
const cpuBefore = cpuMs();
const runs: OneRun[] = [];
let rss = 0;
const watch = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 50);
for (let i = 0; i < Number(waves); i++) runs.push(...await wave());
clearInterval(watch);
const cpuPerRun = (cpuMs() - cpuBefore) / runs.length;
const firstBytes = runs.map(({ firstByteMs }) => firstByteMs);
const measured: Measured = {
  cpuPerRun,
  firstByteP50: median(firstBytes),
  firstByteP99: quantile(firstBytes, 0.99),
  pauseP99: quantile(runs.map(({ pauseMs }) => pauseMs), 0.99),
  rss: rss / 1_048_576,
  commits: counts.commits / runs.length,
  changes: counts.changes / runs.length,
};
console.log(JSON.stringify(measured));
await rm(folder, { recursive: true, force: true });
process.exit(0);
