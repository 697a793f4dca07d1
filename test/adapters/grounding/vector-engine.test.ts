import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../src/base/turns.ts';
import { searchByCodes, searchExactly } from '../../../adapters/grounding/vector/search.ts';
import { appendRow, codeRows, createRows, killRow, type Rows } from '../../../adapters/grounding/vector/segments.ts';
import { measureTuning } from '../../../adapters/grounding/vector/tuning.ts';
import { toUnit } from '../../../adapters/grounding/vector/unit.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import type { GroundingItem } from '../../../src/contracts/index.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

const dimensions = 48;
const random = randomNumbers(7);
const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const centres = Array.from({ length: 40 }, () => Array.from({ length: dimensions }, gauss));

/** Data of several shapes. */
const shapes: Readonly<Record<string, () => number[]>> = {
  gaussian: () => Array.from({ length: dimensions }, gauss),
  clustered: () => centres[Math.floor(random() * centres.length)]!.map((x) => x + 0.6 * gauss()),
  'full of duplicates': () => centres[Math.floor(random() * centres.length)]!,
  'shifted by three deviations': () => Array.from({ length: dimensions }, (_, i) => gauss() + (i % 3 === 0 ? 3 : 0)),
  'one-hot': () =>
    Array.from({ length: dimensions }, (_, i) => Number(i === Math.floor(random() * dimensions))).map((x, i) =>
      i === 0 ? x + 1e-3 : x
    ),
};

function rowsOf(vectors: readonly (readonly number[])[]): Rows {
  const rows = createRows(dimensions, 'float32');
  for (const [at, vector] of vectors.entries()) appendRow(rows, `r${String(at).padStart(6, '0')}`, toUnit(vector));
  return rows;
}

/** The best rows by 64-bit cosines of all. */
function oracle(rows: Rows, vectors: readonly (readonly number[])[], query: Float64Array, topK: number): number[] {
  return vectors
    .map((vector, row) => ({
      row,
      score: Float32Array.from(toUnit(vector)).reduce((sum, x, i) => sum + x * query[i]!, 0),
    }))
    .filter(({ row }) => rows.ids[row] !== undefined)
    .toSorted((a, b) => b.score - a.score || a.row - b.row)
    .slice(0, topK)
    .map(({ score }) => score);
}

describe('searchExactly', () => {
  it('returns the best rows as all cosines in 64 bits do', async () => {
    for (const make of Object.values(shapes)) {
      const vectors = Array.from({ length: 700 }, make);
      const rows = rowsOf(vectors);
      for (let row = 0; row < 700; row += 7) killRow(rows, row);
      const query = toUnit(make());
      const found = await searchExactly(rows, query, { topK: 10, turns: createTurns() });
      const scores = oracle(rows, vectors, query, 10);
      for (const [at, { row, score }] of found.entries()) {
        expect(score).toBeCloseTo(scores[at]!, 12);
        expect(row % 7).not.toBe(0);
      }
      expect(found).toHaveLength(10);
    }
  });
});

describe('searchByCodes', () => {
  it.each(Object.entries(shapes))(
    'finds at least 0.99 of the best ten with measured candidates: %s',
    async (_name, make) => {
      const rows = rowsOf(Array.from({ length: 9_000 }, make));
      const turns = createTurns();
      await codeRows(rows, turns);
      const tuning = await measureTuning(rows, turns);
      expect(tuning.recall).toBeGreaterThanOrEqual(0.99);
      let [found, wanted] = [0, 0];
      for (let i = 0; i < 40; i++) {
        const [a, b] = [make(), make()];
        const query = toUnit(a.map((x, at) => 0.7 * x + 0.3 * b[at]!));
        const exact = await searchExactly(rows, query, { topK: 10, turns });
        const coded = await searchByCodes(rows, query, { ...tuning, topK: 10, turns });
        const least = exact.at(-1)!.score; // of equals any will do
        found += coded.filter(({ score }) => score >= least).length;
        wanted += 10;
      }
      expect(found / wanted).toBeGreaterThanOrEqual(0.99);
    },
  );

  it('keeps to the rows that are allowed', async () => {
    const rows = rowsOf(Array.from({ length: 9_000 }, shapes['clustered']!));
    const turns = createTurns();
    await codeRows(rows, turns);
    const allowed = Uint32Array.from({ length: 3_000 }, (_, at) => at * 3);
    const query = toUnit(shapes['clustered']!());
    const exact = await searchExactly(rows, query, { topK: 20, allowed, turns });
    const coded = await searchByCodes(rows, query, { topK: 20, candidates: 2_000, columns: 2, allowed, turns });
    expect(coded).toEqual(exact);
    expect(coded.every(({ row }) => row % 3 === 0)).toBe(true);
  });
});

describe('vectorSource with thousands of vectors', () => {
  const make = shapes['clustered']!;
  const itemAt = (at: number): GroundingItem => ({
    id: `i${at}`,
    text: `Item ${at}`,
    embedding: make(),
    metadata: { at },
  });

  it('finds the same as every cosine would, while items are added, removed and compacted', async () => {
    const source = vectorSource({ id: 'v' });
    const held = new Map<string, GroundingItem>();
    const put = async (items: readonly GroundingItem[]): Promise<void> => {
      await source.remember({ tenant: 'local', items }, neverAborted());
      for (const item of items) held.set(item.id!, item);
    };
    for (let from = 0; from < 8_000; from += 1_000) {
      await put(Array.from({ length: 1_000 }, (_, at) => itemAt(from + at)));
    }
    for (let round = 0; round < 4; round++) {
      const ids = [...held.keys()].filter((_, at) => at % 4 === round % 4).slice(0, 900);
      await source.forget({ tenant: 'local', ids }, neverAborted());
      for (const id of ids) held.delete(id);
      await put(ids.slice(0, 300).map((id) => itemAt(Number(id.slice(1)))));
      const query = toUnit(make());
      const hits = await source.retrieve({ tenant: 'local', embedding: query, topK: 10, filters: [] }, neverAborted());
      const scores = [...held.values()]
        .map(({ embedding }) => toUnit(embedding!).reduce((sum, x, i) => sum + x * query[i]!, 0))
        .toSorted((a, b) => b - a);
      expect(hits.filter(({ score }, at) => Math.abs(score - scores[at]!) < 1e-6).length).toBeGreaterThanOrEqual(9);
      const filters = [{ field: 'at', op: 'lt', value: 500 } as const];
      const few = await source.retrieve({ tenant: 'local', embedding: query, topK: 200, filters }, neverAborted());
      expect(few.every(({ metadata }) => Number(metadata['at']) < 500)).toBe(true);
    }
    const { items, details } = await source.stats('local', neverAborted());
    expect(items).toBe(held.size);
    expect(details).toMatchObject({ vectors: held.size });
  }, 60_000);

  it('stops between two turns when its signal aborts', async () => {
    const source = vectorSource({ id: 'v' });
    for (let from = 0; from < 6_000; from += 1_000) {
      await source.remember(
        { tenant: 'local', items: Array.from({ length: 1_000 }, (_, at) => itemAt(from + at)) },
        neverAborted(),
      );
    }
    const abort = new AbortController();
    const filters = [{ field: 'at', op: 'gte', value: 0 } as const];
    const answer = source.retrieve({ tenant: 'local', embedding: make(), topK: 5, filters }, abort.signal);
    abort.abort();
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  }, 60_000);

  it('is sure of related questions and not of unrelated ones', async () => {
    const wide = () => Array.from({ length: 384 }, gauss);
    const topics = Array.from({ length: 300 }, wide);
    const about = (): number[] => topics[Math.floor(random() * topics.length)]!.map((x) => x + 0.6 * gauss());
    const source = vectorSource({ id: 'v' });
    const items = Array.from({ length: 1_000 }, (_, at) => ({ id: `i${at}`, text: `Item ${at}`, embedding: about() }));
    await source.remember({ tenant: 'local', items }, neverAborted());
    const topOf = async (embedding: ArrayLike<number>) =>
      (await source.retrieve({ tenant: 'local', embedding, topK: 1, filters: [] }, neverAborted()))[0]!.confidence;
    const [related, unrelated] = [[], []] as [number[], number[]];
    for (let i = 0; i < 100; i++) {
      related.push(await topOf(about()));
      unrelated.push(await topOf(wide()));
    }
    expect(unrelated.filter((confidence) => confidence <= 0.2).length).toBeGreaterThanOrEqual(95);
    expect(related.filter((confidence) => confidence >= 0.92).length).toBeGreaterThanOrEqual(90);
  }, 60_000);
});
