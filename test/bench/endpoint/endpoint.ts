/** What an endpoint bears: concurrent signed runs, readers that stall, signatures, events a second, resolution. */

import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import { median, quantile, report, type Row } from '../measure.ts';
import type { Load, Outcome } from './load.ts';
import { measureResolution } from './resolution.ts';
import { createSigner, runBody, type SignedRequest, type Signer } from './signer.ts';

const mebi = 1_048_576;
const folder = await mkdtemp(join(tmpdir(), 'pinnace-bench-'));
const signer: Signer = await createSigner();

/** A server without a past, so that no figure depends on the one before. */
async function withServer<T>(measure: (server: EndpointProcess) => Promise<T>): Promise<T> {
  const server = await startEndpoint({
    script: 'test/bench/endpoint/server.ts',
    env: { BENCH_KV: join(folder, `${crypto.randomUUID()}.kv`), BENCH_ISSUERS: JSON.stringify([signer.trusted]) },
    permissions: [`--allow-read=${folder}`, `--allow-write=${folder}`, '--v8-flags=--expose-gc'],
  });
  try {
    return await measure(server);
  } finally {
    await server.stop('SIGKILL');
  }
}

/** Sends a load from a process of its own; it and its connections stay until `during` is over. */
async function underLoad<T>(load: Load, during: (outcome: Outcome) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, 'load.ts'));
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The load ended with ${code}`)));
  failed.catch(() => undefined);
  try {
    child.send(load);
    const [outcome] = await Promise.race([once(child, 'message'), failed]) as [Outcome];
    return await during(outcome);
  } finally {
    child.kill('SIGKILL');
  }
}

function memoryOf({ url }: EndpointProcess): Promise<{ readonly rss: number; readonly heapUsed: number }> {
  return fetch(`${url}/bench/memory`).then((response) => response.json());
}

function times<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => make(i)));
}

function runRequests(count: number, speech: Parameters<typeof runBody>[0]): Promise<SignedRequest[]> {
  return times(count, () => signer.sign({ method: 'POST', path: '/v1/runs', body: runBody(speech) }));
}

/** As many streams at once, of so many events and at this pace; ours are signed and recorded. */
const [runs, speech] = [500, { deltas: 12, length: 5, everyMs: 50, stalls: false }];

interface Burst {
  readonly outcome: Outcome;
  readonly p50: number;
  readonly p99: number;
  readonly peakRss: number;
}

/** Starts all runs in one moment, at a server that has warmed up. */
async function burst(make: (count: number) => Promise<SignedRequest[]>): Promise<Burst> {
  return await withServer(async (server) => {
    const { url } = server;
    const send = async (count: number) =>
      await underLoad({ url, requests: await make(count), read: 'whole' }, (outcome) => Promise.resolve(outcome));
    for (let i = 0; i < 3; i++) await send(100);
    let peakRss = 0;
    const measure = async (): Promise<void> => {
      peakRss = Math.max(peakRss, await rssOf(server).catch(() => 0)); // the server may end meanwhile
    };
    const watch = setInterval(() => void measure(), 100);
    const outcome = await send(runs);
    clearInterval(watch);
    const { firstByteMs } = outcome;
    return { outcome, peakRss, p50: quantile(firstByteMs, 0.5), p99: quantile(firstByteMs, 0.99) };
  });
}

async function measureRuns(): Promise<Row[]> {
  const ours = await burst((count) => runRequests(count, speech));
  const bare = await burst((count) =>
    times(
      count,
      () => Promise.resolve({ method: 'POST', path: '/bench/run', headers: {}, body: JSON.stringify(speech) }),
    )
  );
  const { outcome: { whole, events, statuses, elapsedMs }, p99, peakRss } = ours;
  const shown = (one: Burst): string => `p50 ${one.p50.toFixed(0)} ms, p99 ${one.p99.toFixed(0)} ms`;
  const rss = (one: Burst): string => `${(one.peakRss / mebi).toFixed(0)} MiB`;
  return [
    {
      figure: 'runs at once that are complete',
      value: `${whole} ${JSON.stringify(statuses)}`,
      bar: `${runs}`,
      met: whole === runs,
    },
    {
      figure: 'events of a run, all runs',
      value: `${events / runs}, ${(elapsedMs / 1000).toFixed(1)} s`,
      peer: `${(bare.outcome.elapsedMs / 1000).toFixed(1)} s`,
    },
    {
      figure: 'first byte, the AI SDK alone as peer',
      value: shown(ours),
      peer: shown(bare),
      bar: 'p99 <= 500 ms',
      met: p99 <= 500,
    },
    {
      figure: 'memory of the server, peak RSS',
      value: rss(ours),
      peer: rss(bare),
      ratio: (peakRss / bare.peakRss).toFixed(2),
      bar: '<= 1.05',
      met: peakRss <= 1.05 * bare.peakRss,
    },
  ];
}

async function measureStalled(): Promise<Row[]> {
  const [logs, readersPerLog] = [20, 15];
  const long = { deltas: 2_000, length: 3_500, everyMs: 0, stalls: true };
  return await withServer(async (server) => {
    const { url } = server;
    const requests = await runRequests(logs, long);
    return await underLoad({ url, requests, read: { events: long.deltas } }, async ({ runIds }) => {
      const before = await memoryOf(server);
      const readers = await times(
        logs * readersPerLog,
        (i) => signer.sign({ method: 'GET', path: `/v1/runs/${runIds[i % logs]}/stream` }),
      );
      return await underLoad({ url, requests: readers, read: 'stall' }, async ({ statuses }) => {
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        const after = await memoryOf(server);
        const [heap, rss] = [after.heapUsed - before.heapUsed, after.rss - before.rss].map((bytes) => bytes / mebi);
        return [{
          figure: `${logs * readersPerLog} stalled readers, ${JSON.stringify(statuses)}`,
          value: `${heap?.toFixed(1)} MiB heap, ${rss?.toFixed(1)} MiB RSS`,
          bar: '<= 32 MiB heap',
          met: (heap ?? NaN) <= 32,
        }];
      });
    });
  });
}

async function measureVerification(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)('deno', ['run', '-A', 'test/bench/endpoint/verify.ts'], {
    cwd: join(import.meta.dirname, '../../..'),
  });
  const { perRound, times: rounds } = JSON.parse(stdout) as { perRound: number; times: number[] };
  const rates = rounds.map((ms) => perRound / ms * 1000);
  const value = `${median(rates).toFixed(0)}/s, best round ${Math.max(...rates).toFixed(0)}/s`;
  return [{ figure: 'signed requests of 8 KiB verified', value, bar: '>= 2000/s', met: median(rates) >= 2000 }];
}

/** Reads streams of events that are there already, ours and bare ones in turn. */
async function measureEvents(): Promise<Row[]> {
  const [streams, rounds] = [16, 7];
  const long = { deltas: 5_000, length: 5, everyMs: 0, stalls: false };
  return await withServer(async ({ url }) => {
    const [runId] = await underLoad(
      { url, requests: await runRequests(1, long), read: 'whole' },
      async (done) => done.runIds,
    );
    const ours = () => times(streams, () => signer.sign({ method: 'GET', path: `/v1/runs/${runId}/stream` }));
    const path = `/bench/bare?events=${long.deltas}&length=${long.length}`;
    const bare = () => times(streams, () => Promise.resolve({ method: 'GET', path, headers: {} }));
    const rate = async (make: () => Promise<SignedRequest[]>): Promise<number> => {
      const requests = await make();
      return await underLoad(
        { url, requests, read: 'whole' },
        ({ events, elapsedMs }) => Promise.resolve(events / elapsedMs * 1000),
      );
    };
    const rates: [number, number][] = [];
    for (let i = 0; i <= rounds; i++) {
      const pair: [number, number] = i % 2 ? [await rate(ours), await rate(bare)] : [0, 0];
      if (i % 2 === 0) [pair[1], pair[0]] = [await rate(bare), await rate(ours)];
      if (i > 0) rates.push(pair);
    }
    const ratio = median(rates.map(([own, peer]) => own / peer));
    const value = `${median(rates.map(([own]) => own)).toFixed(0)}/s`;
    const peer = `${median(rates.map(([, theirs]) => theirs)).toFixed(0)}/s`;
    return [{
      figure: 'events over SSE, Deno.serve alone as peer',
      value,
      peer,
      ratio: ratio.toFixed(2),
      bar: '>= 0.7',
      met: ratio >= 0.7,
    }];
  });
}

async function rssOf({ url }: EndpointProcess): Promise<number> {
  return (await fetch(`${url}/bench/rss`).then((response) => response.json()) as { rss: number }).rss;
}

const measures = [measureRuns, measureStalled, measureVerification, measureEvents, measureResolution];
const rows: Row[] = [];
try {
  for (const measure of measures) {
    if (process.argv[2] !== undefined && !measure.name.includes(process.argv[2])) continue;
    rows.push(...await measure());
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
report('The endpoint', rows);
