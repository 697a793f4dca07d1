/**
 * What a run costs beside the bare AI SDK, on the same scripted model: three tool calls, then a hundred chunks of text, as
 * server-sent events read to the end. CPU per run, time to the first chunk, memory of held streams, and the cost of each chunk of a
 * long stream and of its replay.
 */

import process from 'node:process';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { collect, cpuRounds, median, quantile, ratioOf, report, type Row } from '../measure.ts';
import { answer, bare, bareLowMemory, calls, everythingOn, pinnace, type Subject } from './subjects.ts';

const peer = 'AI SDK: streamText -> SSE';
const ours = 'Pinnace: run -> SSE';
const allOn = 'Pinnace: log, events, audit, redaction -> SSE';
const subject = pinnace();
const variants: Readonly<Record<string, Subject>> = {
  [peer]: bare,
  'AI SDK: low memory -> SSE': bareLowMemory,
  [ours]: subject,
  [allOn]: everythingOn(),
};
const bars: Readonly<Record<string, number>> = { [ours]: 0.4, [allOn]: 0.55 };

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

async function measureCpu(): Promise<Row[]> {
  const runs = Object.fromEntries(
    Object.entries(variants).map(([name, { start, settle }]) => [name, async () => {
      await drain(await start(scriptedModel(calls, answer).model));
      await settle?.();
    }]),
  );
  const times = await cpuRounds(runs, { rounds: 9, calls: 150, warmup: 300 });
  return Object.entries(times).map(([name, rounds]) => {
    const ratio = ratioOf(rounds, times[peer]);
    const theirs = `${median(times[peer] ?? []).toFixed(2)} ms/run`;
    const bar = bars[name];
    const met = bar !== undefined && { peer: theirs, bar: `<= ${bar}`, met: ratio <= bar };
    return { figure: `CPU, ${name}`, value: `${median(rounds).toFixed(2)} ms/run`, ratio: ratio.toFixed(3), ...met };
  });
}

async function firstChunkMs({ start }: Subject): Promise<number> {
  const from = performance.now();
  const reader = (await start(scriptedModel(answer).model)).getReader();
  const decoder = new TextDecoder();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (decoder.decode(next.value).includes('token0')) break;
  }
  const elapsed = performance.now() - from;
  await reader.cancel();
  return elapsed;
}

/** Each in turn, so that noise hits all alike. */
async function measureFirstChunk(): Promise<Row[]> {
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, [] as number[]]));
  for (let i = 0; i < 300; i++) {
    for (const [name, one] of Object.entries(variants)) times[name]?.push(await firstChunkMs(one));
  }
  const middle = (name: string): number => quantile(times[name]?.slice(100) ?? [], 0.5);
  return Object.keys(variants).map((name) => {
    const value = `p50 ${middle(name).toFixed(2)} ms, p95 ${
      quantile(times[name]?.slice(100) ?? [], 0.95).toFixed(2)
    } ms`;
    const added = middle(name) - middle(peer);
    const met = name === ours && { bar: `<= 0.8 ms more: ${added.toFixed(2)}`, met: added <= 0.8 };
    return { figure: `First chunk, ${name}`, value, ...met };
  });
}

/** Holds streams that have made their tool calls and have sent half of the text. */
async function measureMemory(): Promise<Row[]> {
  const count = 1000;
  const sizes: Record<string, number> = {};
  for (const [name, { start }] of Object.entries(variants)) {
    for (let i = 0; i < 50; i++) await drain(await start(scriptedModel(calls, answer).model));
    await rest();
    const before = process.memoryUsage().heapUsed;
    const held: ReadableStreamDefaultReader<Uint8Array>[] = [];
    for (let i = 0; i < count; i++) {
      const reader = (await start(scriptedModel(calls, () => stallingStream(answer.slice(0, 52))).model)).getReader();
      held.push(reader);
      void (async () => {
        while (!(await reader.read()).done);
      })();
    }
    await rest();
    sizes[name] = (process.memoryUsage().heapUsed - before) / 1024 / count;
    await Promise.all(held.map((reader) => reader.cancel()));
    await rest();
  }
  return Object.entries(sizes).map(([name, size]) => {
    const theirs = sizes[peer] ?? NaN;
    const ratio = size / theirs;
    const met = name === ours &&
      { peer: `${theirs.toFixed(0)} KiB`, ratio: ratio.toFixed(2), bar: '<= 1', met: ratio <= 1 };
    return { figure: `${count} streams held, ${name}`, value: `${size.toFixed(0)} KiB heap each`, ...met };
  });
}

const lengths = [100, 5_000, 9_900] as const;

/** The chunks between the lengths of streams: the later ones must cost as much as the earlier ones. */
async function measureLong(): Promise<Row[]> {
  const scripts = new Map(
    lengths.map((count) => [count, says(...Array.from({ length: count }, (_, i) => `token${i} `))]),
  );
  const live = Object.fromEntries(
    [...scripts].map((
      [count, script],
    ) => [`${count}`, async () => drain(await subject.start(scriptedModel(script).model))]),
  );
  const replays: Record<string, () => Promise<void>> = {};
  for (const [count, script] of scripts) {
    const replay = await subject.record(scriptedModel(script).model);
    replays[`${count}`] = async () => drain(await replay());
  }
  const each = { rounds: 9, warmup: 10 };
  return [
    perChunk('A chunk of a stream of 9,900', await cpuRounds(live, { ...each, calls: 4 })),
    perChunk('A chunk of the replay of a run of 9,900', await cpuRounds(replays, { ...each, calls: 20 })),
  ];
}

function perChunk(figure: string, times: Readonly<Record<string, readonly number[]>>): Row {
  const [short, middle, long] = lengths;
  const cost = (from: number, to: number): number =>
    (median(times[to] ?? []) - median(times[from] ?? [])) * 1000 / (to - from);
  const [early, late] = [cost(short, middle), cost(middle, long)];
  const ratio = late / early;
  const met = { peer: `${early.toFixed(2)} us up to 5,000`, ratio: ratio.toFixed(2), bar: '<= 1.1', met: ratio <= 1.1 };
  return { figure, value: `${late.toFixed(2)} us`, ...met };
}

async function rest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 800));
  collect();
}

const rows = [await measureCpu(), await measureLong(), await measureFirstChunk(), await measureMemory()].flat();
report('Overhead of a run', rows);
process.exit(0); // what is held must not keep the process
