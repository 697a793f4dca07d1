/**
 * Schedulers of others, where they are installed: `PINNACE_BENCH_PEERS` names a folder whose `node_modules` has `p-queue`, `p-limit`,
 * `@langchain/langgraph`, `@langchain/core`, `@mastra/core` and `zod`. They are too many to be dependencies. The AI SDK is one.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { generateText } from 'ai';
import { says, scriptedModel, streamOf } from '../../fixtures/model.ts';

// Packages that are no dependencies have no types here.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

/** Runs so many tasks, or a tree of agents with so many children each and three levels. Returns the number of leaves. */
export type Run = (count: number) => Promise<number>;

export interface Peers {
  readonly flat: Readonly<Record<string, Run>>;
  readonly nested: Readonly<Record<string, Run>>;
  /** Too slow for as many rounds as the others. */
  readonly slow: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** As many tasks at once. */
export const parallelism = 16;

/** A model that answers at once, after a turn of the microtask queue. */
export async function answer(i: number): Promise<number> {
  await Promise.resolve();
  return i * 2;
}

const folder = process.env.PINNACE_BENCH_PEERS;

async function load(name: string): Promise<Untyped> {
  if (folder === undefined) throw new Error('set PINNACE_BENCH_PEERS to a folder with node_modules');
  return await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href);
}

/** The peers that could be loaded, and why others could not. */
export async function findPeers(): Promise<Peers> {
  const flat: Record<string, Run> = {};
  const nested: Record<string, Run> = {};
  const missing: string[] = [];
  for (const [name, make] of Object.entries(makers)) {
    try {
      const { flat: one, nested: other } = await make();
      if (one) flat[name] = one;
      if (other) nested[name] = other;
    } catch (error) {
      missing.push(`${name} (${String(error).split('\n')[0]})`);
    }
  }
  return { flat, nested, missing, slow: new Set(['LangGraph Send, synchronous checkpoints', 'LangGraph functional']) };
}

const makers: Readonly<Record<string, () => Promise<{ readonly flat?: Run; readonly nested?: Run }>>> = {
  'p-queue': async () => ({ flat: pQueue((await load('p-queue')).default) }),
  'p-limit': async () => ({ flat: pLimit((await load('p-limit')).default) }),
  'Mastra foreach': async () => ({ flat: mastra(await load('@mastra/core/workflows'), (await load('zod')).z) }),
  'AI SDK generateText': async () => ({ flat: aiSdk((await load('p-limit')).default) }),
  'LangGraph Send, synchronous checkpoints': async () => ({ flat: langGraphSend(await load('@langchain/langgraph')) }),
  'LangGraph subgraphs': async () => ({ nested: langGraphSubgraphs(await load('@langchain/langgraph')) }),
  'LangGraph functional': async () => ({ nested: langGraphFunctional(await load('@langchain/langgraph')) }),
};

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function pQueue(Queue: Untyped): Run {
  return async (count) => {
    const queue = new Queue({ concurrency: parallelism });
    return (await queue.addAll(indices(count).map((i) => () => answer(i)))).length;
  };
}

function pLimit(limitTo: Untyped): Run {
  return async (count) => {
    const limit = limitTo(parallelism);
    return (await Promise.all(indices(count).map((i) => limit(() => answer(i))))).length;
  };
}

function mastra({ createWorkflow, createStep }: Untyped, z: Untyped): Run {
  const step = createStep({
    id: 'task',
    inputSchema: z.number(),
    outputSchema: z.number(),
    execute: async ({ inputData }: Untyped) => await answer(inputData),
  });
  const all = z.array(z.number());
  const workflow = createWorkflow({ id: 'flat', inputSchema: all, outputSchema: all })
    .foreach(step, { concurrency: parallelism }).commit();
  return async (count) => {
    const run = await workflow.createRun();
    return (await run.start({ inputData: indices(count) })).result.length;
  };
}

function aiSdk(limitTo: Untyped): Run {
  const { model } = scriptedModel(() => streamOf(says('ok')));
  const generating = Object.assign(Object.create(model) as typeof model, {
    doGenerate: async () => ({
      content: [{ type: 'text' as const, text: 'ok' }],
      finishReason: { unified: 'stop' as const, raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
      warnings: [],
    }),
  });
  return async (count) => {
    const limit = limitTo(parallelism);
    const texts: { text: string }[] = await Promise.all(
      indices(count).map((i) => limit(() => generateText({ model: generating, prompt: `t${i}` }))),
    );
    return texts.filter(({ text }) => text === 'ok').length;
  };
}

function langGraphSend({ StateGraph, Annotation, Send, START, END, MemorySaver }: Untyped): Run {
  const state = Annotation.Root({
    n: Annotation(),
    i: Annotation(),
    out: Annotation({ reducer: (a: number[], b: number[]) => a.concat(b), default: () => [] }),
  });
  const graph = new StateGraph(state)
    .addNode('plan', async () => ({}))
    .addNode('task', async ({ i }: Untyped) => ({ out: [await answer(i)] }))
    .addNode('join', async ({ out }: Untyped) => ({ n: out.length }))
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', ({ n }: Untyped) => indices(n).map((i) => new Send('task', { i })), ['task'])
    .addEdge('task', 'join')
    .addEdge('join', END);
  return async (count) => {
    const app = graph.compile({ checkpointer: new MemorySaver() });
    const options = {
      configurable: { thread_id: '1' },
      maxConcurrency: parallelism,
      recursionLimit: 1e6,
      durability: 'sync',
    };
    return (await app.invoke({ n: count }, options)).out.length;
  };
}

function langGraphSubgraphs({ StateGraph, Annotation, Send, START, END }: Untyped): Run {
  const state = Annotation.Root({
    i: Annotation(),
    out: Annotation({ reducer: (a: number[], b: number[]) => a.concat(b), default: () => [] }),
  });
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const make = (width: number, depth: number): Untyped => {
    const below = depth === 0 ? undefined : make(width, depth - 1);
    const task = async (): Promise<{ out: number[] }> => {
      if (below) return { out: [sum((await below.invoke({ out: [] })).out)] };
      await answer(1);
      return { out: [1] };
    };
    return new StateGraph(state)
      .addNode('plan', async () => (await answer(1), {}))
      .addNode('task', task)
      .addEdge(START, 'plan')
      .addConditionalEdges('plan', () => indices(width).map((i) => new Send('task', { i })), ['task'])
      .addEdge('task', END)
      .compile();
  };
  return async (width) =>
    sum((await make(width, 2).invoke({}, { recursionLimit: 1e6, maxConcurrency: parallelism })).out);
}

function langGraphFunctional({ task, entrypoint, MemorySaver }: Untyped): Run {
  return async (width) => {
    const node = task('node', async (depth: number): Promise<number> => {
      await answer(1);
      if (depth === 0) return 1;
      const results: number[] = await Promise.all(indices(width).map(() => node(depth - 1)));
      return results.reduce((a, b) => a + b, 0);
    });
    const workflow = entrypoint(
      { name: 'nested', checkpointer: new MemorySaver() },
      async (depth: number) => await node(depth),
    );
    return await workflow.invoke(3, { configurable: { thread_id: '1' }, recursionLimit: 1e6 });
  };
}
