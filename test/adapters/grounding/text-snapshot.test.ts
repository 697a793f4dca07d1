import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { sha256 } from '../../../src/base/hash.ts';
import type { Storage } from '../../../src/index.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';
import { neverAborted } from '../../fixtures/grounding.ts';
import entriesBefore from '../../fixtures/kept/grounding-2.json' with { type: 'json' };

const size = 5_200;
const random = randomNumbers(5);
const textAt = (at: number): string =>
  `Entry ${at} ${Array.from({ length: 6 }, () => `word${Math.floor(random() * 900)}`).join(' ')} 潮汐`;
const texts = Array.from({ length: size }, (_, at) => textAt(at));
const questions = ['word17 word40', 'entry 77', 'wrd33', '潮汐 word5', 'nothing'];

let time = 1_800_000_000_000;
const open = (storage: Storage) => textSource({ id: 'log', storage, now: () => time });
type Source = ReturnType<typeof open>;

async function fill(source: Source, from = 0, to = size): Promise<void> {
  for (let start = from; start < to; start += 1_000) {
    const items = texts.slice(start, Math.min(to, start + 1_000)).map((text, at) => ({
      id: `e${start + at}`,
      text,
      ...((start + at) % 3 === 0 && { title: `Title word${start + at}` }),
      ...(start + at === 10 && { ttlMs: 60_000 }),
    }));
    await source.remember({ tenant: 'local', items }, neverAborted());
  }
}

async function answers(source: Source) {
  const all = await Promise.all(
    questions.map((query) => source.retrieve({ tenant: 'local', query, topK: 20, filters: [] }, neverAborted())),
  );
  return all.map((hits) =>
    hits.map(({ id, score, confidence, content }) => ({
      id,
      score: score.toFixed(9),
      confidence: confidence.toFixed(9),
      content,
    }))
  );
}

/** A storage with a filled source, and its snapshot. */
async function kept(): Promise<{ storage: Storage; before: Awaited<ReturnType<typeof answers>> }> {
  const storage = memoryStorage();
  const source = open(storage);
  await fill(source);
  await source.settle('local', neverAborted());
  return { storage, before: await answers(source) };
}

/** How many items this instance has indexed itself. */
const indexedBy = async (source: Source) => (await source.stats('local', neverAborted())).details?.['indexed'];
const keysOf = async (storage: Storage, part: string) =>
  (await storage.list({ prefix: ['grounding', 'log', 'local', part], limit: 1_000 })).map(({ key }) => key);

/** Puts other bytes in the place of the snapshot of all items. */
async function replaceSnapshot(storage: Storage, content: readonly number[]): Promise<void> {
  const [key] = await keysOf(storage, 'index-part');
  const headKey = ['grounding', 'log', 'local', 'index-head'];
  const bytes = new Uint8Array(content);
  const head = (await storage.get(headKey))?.value as object;
  await storage.commit([
    { key: key!, value: bytes },
    { key: headKey, value: { ...head, parts: 1, sum: await sha256(bytes) } },
  ]);
}

describe('textSource, reopened', () => {
  it('answers as before, and indexes nothing again', async () => {
    const { storage, before } = await kept();
    const source = open(storage);
    expect(await answers(source)).toEqual(before);
    expect(await indexedBy(source)).toBe(0);
  }, 60_000);

  it.each<[string, (storage: Storage) => Promise<void>]>([
    ['a part of the snapshot is damaged', async (storage) => {
      const [key] = await keysOf(storage, 'index-part');
      await storage.commit([{ key: key!, value: new Uint8Array([1, 2, 3]) }]);
    }],
    ['a part is missing', async (storage) => {
      const [key] = await keysOf(storage, 'index-part');
      await storage.commit([{ key: key! }]);
    }],
    ['it has the format of version 0.1', (storage) => replaceSnapshot(storage, [1, 0, 0, 2, 0])], // MiniSearch, without items
    ['it has earlier rules of words', (storage) => replaceSnapshot(storage, [3, 0, 0, 0])], // without items
    ['it is of another log', async (storage) => {
      const key = ['grounding', 'log', 'local', 'index-head'];
      const head = (await storage.get(key))?.value as object;
      await storage.commit([{ key, value: { ...head, version: 'another.7' } }]);
    }],
  ])('indexes everything again where %s', async (_name, damage) => {
    const { storage, before } = await kept();
    await damage(storage);
    const source = open(storage);
    expect(await answers(source)).toEqual(before);
    expect(await indexedBy(source)).toBe(size);
  }, 60_000);

  it('does not wait for a storage that takes no snapshot', async () => {
    const storage = memoryStorage();
    const full: Storage = {
      ...storage,
      commit: (changes) =>
        changes.some(({ key }) => key.includes('index-part'))
          ? Promise.reject(new Error('full'))
          : storage.commit(changes),
    };
    const source = open(full);
    await fill(source);
    await source.settle('local', neverAborted());
    expect((await answers(source))[0]).not.toEqual([]);
    expect(await keysOf(storage, 'index-part')).toEqual([]);
  }, 60_000);
});

/** A source of version 0.2: its log, with an idempotency key and a removed item, and a snapshot of its index. */
async function storedBefore(): Promise<Storage> {
  const storage = memoryStorage();
  for (const { key, value } of entriesBefore as readonly { key: string[]; value: unknown }[]) {
    const bytes = (value as { bytes?: string }).bytes;
    await storage.commit([{
      key,
      value: bytes === undefined ? value : Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0)),
    }]);
  }
  return storage;
}

describe('textSource on data of version 0.2', () => {
  const at = { now: () => 1_800_000_000_000 };
  const ask = async (source: Source, query: string) =>
    (await source.retrieve({ tenant: 'local', query, topK: 3, filters: [] }, neverAborted())).map(({ id }) => id);

  it('finds all items, and indexes them again', async () => {
    const source = textSource({ id: 'handbook', storage: await storedBefore(), ...at });
    expect(await ask(source, 'booking a trip')).toEqual(['trips']);
    expect(await ask(source, 'deploying')).toEqual(['trips']);
    expect(await ask(source, 'refunded expense')).toEqual(['refunds']);
    expect(await ask(source, 'Wann kommen die Rechnungen')).toEqual(['rechnung']);
    expect(await ask(source, '数据源')).toEqual(['zh']);
    expect(await ask(source, 'streamSSE')).toEqual(['code']);
    expect(await ask(source, 'removed person')).toEqual([]);
    expect(await source.stats('local', neverAborted())).toMatchObject({ items: 6, details: { indexed: 6 } });
  });

  it('goes on with its log', async () => {
    const storage = await storedBefore();
    const source = textSource({ id: 'handbook', storage, ...at });
    await source.forget({ tenant: 'local', ids: ['trips'] }, neverAborted());
    await source.remember({ tenant: 'local', items: [{ id: 'new', text: 'Parcels by rail' }] }, neverAborted());
    const again = textSource({ id: 'handbook', storage, ...at });
    expect(await ask(again, 'trips')).toEqual([]);
    expect(await ask(again, 'rail')).toEqual(['new']);
    expect((await again.stats('local', neverAborted())).items).toBe(6);
  });
});
