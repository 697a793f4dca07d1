/** Indexes and searches 100,000 texts in a worker that yields as one of a page does, which has no `setImmediate`. */

import { parentPort } from 'node:worker_threads';
import { textQueries, textsOf } from './data.ts';
import { type SeenTurns, watchTurns } from './turn-watch.ts';

export interface WorkerTurns {
  readonly indexing: SeenTurns;
  readonly asking: SeenTurns;
}

crypto.randomUUID(); // Node loads it with the first use, which a runtime makes long before
Reflect.deleteProperty(globalThis, 'setImmediate');
const { textSource } = await import('../../../adapters/grounding/text.ts');
const signal = new AbortController().signal;
const [source, texts] = [textSource({ id: 'texts' }), textsOf(100_000)];
const whileIndexed = watchTurns();
for (let from = 0; from < texts.length; from += 1_000) {
  await source.remember({ tenant: 'local', items: texts.slice(from, from + 1_000) }, signal);
}
const indexing = await whileIndexed();
const whileAsked = watchTurns();
for (const query of textQueries(100)) await source.retrieve({ tenant: 'local', query, topK: 10, filters: [] }, signal);
const posted: WorkerTurns = { indexing, asking: await whileAsked() };
parentPort!.postMessage(posted);
