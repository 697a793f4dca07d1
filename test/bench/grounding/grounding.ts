/** Grounding beside its peers: vectors by time, memory and recall, text, fusion, and how long the event loop is held. */

import process from 'node:process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { textSource } from '../../../adapters/grounding/text.ts';
import { VectorEngine } from '../../../adapters/grounding/vector-engine.ts';
import { toUnit } from '../../../adapters/grounding/vector-rows.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding } from '../../../src/index.ts';
import { fuse } from '../../../src/grounding/fuse.ts';
import { hitOf } from '../../fixtures/grounding-source.ts';
import { collect, cpuMs, median, report, type Row } from '../measure.ts';
import { dimensions, queriesOf, sayHowToCompare, type Search, shapes, textQueries, textsOf } from './data.ts';
import { type SeenTurns, watchTurns } from './turn-watch.ts';
import type { WorkerTurns } from './turns-worker.ts';
import { measureQuality } from './quality.ts';
import { aiSdk, hnsw, langchain, orama, plainLoop } from './peers.ts';

const topK = 10;
const signal = new AbortController().signal;
const tenant = 'local';
crypto.randomUUID(); // Node loads it with the first use, which a runtime makes long before

/** CPU milliseconds per query, the median of all queries; they run one after the other. */
async function cpuPerQuery(search: Search, queries: readonly Float32Array[], rounds: number): Promise<number> {
  for (const query of queries.slice(0, 5)) await search(query, topK);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    collect();
    const before = cpuMs();
    for (const query of queries) await search(query, topK);
    times.push((cpuMs() - before) / queries.length);
  }
  return median(times);
}

async function recallOf(search: Search, truth: readonly (readonly string[])[], queries: readonly Float32Array[]) {
  let found = 0;
  for (const [at, best] of truth.entries()) {
    const ids = new Set(await search(queries[at]!, topK));
    found += best.filter((id) => ids.has(id)).length;
  }
  return found / (truth.length * topK);
}

interface OwnIndex {
  readonly search: Search;
  readonly build: number;
  readonly memory: number;
  readonly stats: Readonly<Record<string, unknown>>;
}

/** The engine alone: what the peers are, without texts, storage and tenants. */
async function buildOwn(vectors: readonly Float32Array[], format: 'float32' | 'int8'): Promise<OwnIndex> {
  const items = new Map(vectors.map((_, at) => {
    const id = String(at);
    return [id, { id, text: id, uri: id, metadata: {}, updatedAt: 0 }];
  }));
  collect();
  const heap = memoryMb();
  const engine = new VectorEngine(format);
  const before = cpuMs();
  for (const [id, item] of items) {
    engine.add({ item, vector: toUnit(vectors[Number(id)]!, new Float32Array(dimensions)) });
  }
  await engine.settle(signal);
  const added = cpuMs();
  collect();
  const memory = memoryMb() - heap;
  return {
    build: added - before,
    memory,
    stats: engine.stats(),
    search: async (embedding, limit) => {
      const request = { tenant, embedding, topK: limit, filters: [] };
      return (await engine.search(request, { items, version: '1', signal })).map(({ id }) => id);
    },
  };
}

function memoryMb(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

/** The engine and the peers on the same vectors. */
async function measureSize(size: number): Promise<Row[]> {
  const rows: Row[] = [];
  const large = size === 100_000;
  const vectors = shapes['clustered']!(size);
  const queries = queriesOf(vectors, 50);
  const own = await buildOwn(vectors, 'float32');
  const loop = (await plainLoop(vectors))!;
  const truth = await Promise.all(queries.slice(0, 20).map((query) => loop(query, topK)));
  const recall = await recallOf(own.search, truth, queries);
  const ours = await cpuPerQuery(own.search, queries, 5);
  rows.push(
    {
      figure: 'query, CPU',
      value: `${ours.toFixed(2)} ms, recall ${recall.toFixed(3)}`,
      ...(large && { bar: '<= 15 ms, recall >= 0.99', met: ours <= 15 && recall >= 0.99 }),
    },
    {
      figure: 'build, CPU',
      value: `${own.build.toFixed(0)} ms`,
      ...(large && { bar: 'build <= 1 s', met: own.build <= 1000 }),
    },
    {
      figure: 'memory a vector, without texts',
      value: `${((own.memory * 1e6) / size).toFixed(0)} B (${JSON.stringify(own.stats)})`,
      ...(large && { bar: '<= 2,100 B', met: own.memory * 1e6 <= 2_100 * size }),
    },
  );
  for (
    const [name, create, bar] of [
      ['plain loop', plainLoop, 3],
      ['AI SDK loop', aiSdk, 7],
      ['LangChain', langchain, 7],
      ['Orama', orama, 7],
    ] as const
  ) {
    const theirs = name === 'plain loop' ? loop : await create(vectors);
    if (!theirs) continue;
    const cpu = await cpuPerQuery(theirs, queries.slice(0, large ? 15 : 50), 3);
    rows.push({
      figure: `beside: ${name}`,
      value: `${ours.toFixed(2)} ms`,
      peer: `${cpu.toFixed(2)} ms`,
      ratio: `${(cpu / ours).toFixed(1)}x`,
      ...(large && { bar: `>= ${bar}x`, met: cpu / ours >= bar }),
    });
  }
  return rows;
}

async function measureHnsw(): Promise<Row[]> {
  const vectors = shapes['clustered']!(2_000);
  const before = cpuMs();
  const peer = await hnsw(vectors);
  if (!peer) return [];
  const theirs = (cpuMs() - before) / vectors.length;
  const own = await buildOwn(vectors, 'float32');
  const ours = own.build / vectors.length;
  const ratio = theirs / ours;
  return [{
    figure: 'add one vector, beside hnsw at 2,000',
    value: `${(ours * 1000).toFixed(1)} us`,
    peer: `${(theirs * 1000).toFixed(0)} us`,
    ratio: `${ratio.toFixed(0)}x`,
    bar: '>= 300x, <= 20 us',
    met: ratio >= 300 && ours <= 0.02,
  }];
}

/** Other shapes of data, and bytes instead of floats. */
async function measureShapes(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, bar] of [['low rank 48', 0.99], ['isotropic noise', 0.98]] as const) {
    const vectors = shapes[name]!(100_000);
    const queries = queriesOf(vectors, 20);
    const loop = (await plainLoop(vectors))!;
    const truth = await Promise.all(queries.map((query) => loop(query, topK)));
    const own = await buildOwn(vectors, 'float32');
    const recall = await recallOf(own.search, truth, queries);
    const cpu = await cpuPerQuery(own.search, queries, 3);
    const value = `${cpu.toFixed(2)} ms, recall ${recall.toFixed(3)}`;
    rows.push({ figure: name, value, bar: `recall >= ${bar}`, met: recall >= bar });
    if (name !== 'low rank 48') continue;
    const bytes = await buildOwn(vectors, 'int8');
    const of = await recallOf(bytes.search, truth, queries);
    const size = (bytes.memory * 1e6) / vectors.length;
    rows.push({
      figure: `${name}, stored as bytes`,
      value: `${(await cpuPerQuery(bytes.search, queries, 3)).toFixed(2)} ms, recall ${of.toFixed(3)}, ${
        size.toFixed(0)
      } B`,
      bar: '<= 480 B',
      met: size <= 480,
    });
  }
  return rows;
}

/** The source as it is used: with texts, filters, tenants and fusion. */
async function measureSource(): Promise<Row[]> {
  const size = 100_000;
  const vectors = shapes['clustered']!(size);
  const texts = textsOf(size);
  const queries = queriesOf(vectors, 100); // what collecting so much memory leaves behind is shared by many
  const words = textQueries(100);
  const [byVector, byText] = [vectorSource({ id: 'vectors' }), textSource({ id: 'texts' })];
  const buildTurns = watchTurns();
  const filled = cpuMs();
  for (let from = 0; from < size; from += 1_000) {
    const items = texts.slice(from, from + 1_000).map((item, at) => ({
      ...item,
      embedding: vectors[from + at]!,
      metadata: { share: (from + at) % 100 },
    }));
    await byVector.remember({ tenant, items }, signal);
  }
  const vectorBuild = cpuMs() - filled;
  const building = await buildTurns();
  const before = cpuMs();
  const textTurns = watchTurns();
  for (let from = 0; from < size; from += 1_000) {
    await byText.remember({ tenant, items: texts.slice(from, from + 1_000) }, signal);
  }
  const textBuild = cpuMs() - before;
  const buildingTexts = await textTurns();
  const firstTurns = watchTurns();
  await byText.retrieve({ tenant, query: words[0]!, topK, filters: [] }, signal);
  const firstQuestion = await firstTurns();
  const searchWith =
    (filters: Parameters<typeof byVector.retrieve>[0]['filters']): Search => async (embedding, limit) =>
      (await byVector.retrieve({ tenant, embedding, topK: limit, filters }, signal)).map(({ id }) => id);
  const plain = await cpuPerQuery(searchWith([]), queries, 5);
  const queryTurns = watchTurns();
  for (const query of queries) await searchWith([])(query, topK);
  const whileQueried = await queryTurns();
  const filtered = await cpuPerQuery(searchWith([{ field: 'share', op: 'eq', value: 7 }]), queries, 5);
  let next = 0;
  const text = await cpuPerQuery(
    async () => {
      await byText.retrieve({ tenant, query: words[next++ % words.length]!, topK, filters: [] }, signal);
      return [];
    },
    queries,
    5,
  );
  const longTurns = watchTurns();
  for (let at = 0; at < 20; at++) {
    await byText.retrieve({ tenant, query: words.slice(at, at + 30).join(' '), topK, filters: [] }, signal);
  }
  const longQuestions = await longTurns();
  const grounding = createGrounding({ sources: [byVector, byText] });
  const both = await cpuPerQuery(
    async (embedding) => {
      const query = words[next++ % words.length]!;
      await grounding.retrieve({ dataSourceIds: ['vectors', 'texts'], query, embedding: Array.from(embedding) });
      return [];
    },
    queries,
    3,
  );
  return [
    { figure: '100k items with vectors stored, CPU', value: `${(vectorBuild / 1000).toFixed(1)} s` },
    { figure: '100k texts stored, CPU', value: `${(textBuild / 1000).toFixed(1)} s` },
    { figure: 'query by vector, CPU', value: `${plain.toFixed(2)} ms`, bar: '<= 15 ms', met: plain <= 15 },
    turnsRow('longest turn while it was built', building),
    turnsRow('longest turn during queries', whileQueried),
    turnsRow('longest turn while texts were indexed', buildingTexts),
    turnsRow('longest turn of the first query by words', firstQuestion),
    turnsRow('longest turn of queries by 60 words', longQuestions),
    { figure: 'a filter that 1 % passes', value: `${filtered.toFixed(2)} ms`, bar: '<= 1.5 ms', met: filtered <= 1.5 },
    { figure: 'query by two words, CPU', value: `${text.toFixed(2)} ms`, bar: '<= 5 ms', met: text <= 5 },
    { figure: 'both, fused', value: `${both.toFixed(2)} ms`, bar: '<= 25 ms', met: both <= 25 },
    measureFusion(),
  ];
}

async function measureWorker(): Promise<Row[]> {
  const worker = new Worker(new URL('turns-worker.ts', import.meta.url));
  const [{ indexing, asking }] = await once(worker, 'message') as [WorkerTurns]; // safe: what it posts
  return [
    turnsRow('longest turn while a worker indexed texts', indexing),
    turnsRow('longest turn of queries in a worker', asking),
  ];
}

/** What a restart costs: the log is read, and the index is taken from its snapshot. */
async function measureOpening(): Promise<Row[]> {
  const [storage, texts] = [memoryStorage(), textsOf(100_000)];
  const first = textSource({ id: 'texts', storage });
  const before = cpuMs();
  for (let from = 0; from < texts.length; from += 1_000) {
    await first.remember({ tenant, items: texts.slice(from, from + 1_000) }, signal);
  }
  const filled = cpuMs();
  await first.settle(tenant, signal);
  const saved = cpuMs();
  await textSource({ id: 'texts', storage }).settle(tenant, signal);
  const opened = cpuMs() - saved;
  return [{
    figure: 'opened anew, CPU',
    value: `${(opened / 1000).toFixed(1)} s (indexed: ${((filled - before) / 1000).toFixed(1)} s, snapshot: ${
      ((saved - filled) / 1000).toFixed(1)
    } s)`,
    bar: 'half of indexing',
    met: opened <= (filled - before) / 2,
  }];
}

function turnsRow(figure: string, { longest, longestOfWork, late }: SeenTurns): Row {
  return {
    figure,
    value: `${longest.toFixed(1)} ms CPU (${
      longestOfWork.toFixed(1)
    } ms without collecting garbage), longer than 8 ms: ${(100 * late).toFixed(2)} % of turns`,
    bar: '<= 8 ms',
    met: longest <= 8,
  };
}

/** Queries of a small source: two words of a thousand texts. */
async function measureSmallSource(): Promise<Row[]> {
  const source = textSource({ id: 'texts' });
  const [queries, rounds] = [textQueries(200), 5];
  await source.remember({ tenant, items: textsOf(1_000) }, signal);
  const askAll = async (): Promise<void> => {
    for (const query of queries) await source.retrieve({ tenant, query, topK, filters: [] }, signal);
  };
  for (let i = 0; i < rounds; i++) await askAll(); // warms up
  const before = cpuMs();
  for (let i = 0; i < rounds; i++) await askAll();
  const ms = (cpuMs() - before) / (rounds * queries.length);
  return [{ figure: 'query by two words, CPU', value: `${ms.toFixed(2)} ms`, bar: '<= 0.5 ms', met: ms <= 0.5 }];
}

function measureFusion(): Row {
  const lists = ['a', 'b', 'c', 'd'].map((dataSourceId, list) => ({
    dataSourceId,
    kind: 'search' as const,
    weight: 1,
    calibrated: false,
    hits: Array.from({ length: 100 }, (_, at) => hitOf(`h${(at * 7 + list) % 160}`, { confidence: 1 - at / 100 })),
  }));
  for (let i = 0; i < 500; i++) fuse(lists);
  const before = performance.now();
  for (let i = 0; i < 500; i++) fuse(lists);
  const us = ((performance.now() - before) / 500) * 1000;
  return {
    figure: 'fusion and confidence of 4 x 100 hits',
    value: `${us.toFixed(0)} us`,
    bar: '<= 150 us',
    met: us <= 150,
  };
}

sayHowToCompare();
const sizes = process.argv.slice(2).filter((text) => /^\d+$/.test(text)).map(Number);
if (sizes.length === 0) await measureQuality();
if (process.argv.includes('--quality')) process.exit();
for (const size of sizes.length > 0 ? sizes : [1_000, 10_000, 100_000]) {
  report(`${size} vectors of ${dimensions}`, await measureSize(size));
}
if (sizes.length === 0) {
  report('Building', await measureHnsw());
  report('100,000 vectors of other shapes', await measureShapes());
  report('1,000 texts', await measureSmallSource());
  report('100,000 items, as they are used', [...await measureSource(), ...await measureWorker()]);
  report('100,000 texts in a storage', await measureOpening());
}
