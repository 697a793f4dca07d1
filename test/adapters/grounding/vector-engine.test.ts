import { describe, expect, it } from 'vitest';
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

function unitOf(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** The best scores by 64-bit cosines of all. */
function bestScores(vectors: readonly (readonly number[])[], query: readonly number[]): number[] {
  const unit = unitOf(query);
  return vectors.map((vector) => unitOf(vector).reduce((sum, x, i) => sum + x * unit[i]!, 0)).toSorted((a, b) => b - a);
}

describe('vectorSource, of data of several shapes', () => {
  it.each(Object.entries(shapes).flatMap(([name, make]) => [700, 9_000].map((size) => ({ name, make, size }))))(
    'finds at least 0.99 of the best ten, and all where vectors are few: $size $name',
    async ({ make, size }) => {
      const vectors = Array.from({ length: size }, make);
      const source = vectorSource({ id: 'v' });
      const items = vectors.map((embedding, at) => ({ id: `i${at}`, text: `Item ${at}`, embedding }));
      for (let from = 0; from < size; from += 1_000) {
        await source.remember({ tenant: 'local', items: items.slice(from, from + 1_000) }, neverAborted());
      }
      const queries = Array.from({ length: 20 }, () => {
        const [a, b] = [make(), make()];
        return a.map((x, at) => 0.7 * x + 0.3 * b[at]!);
      });
      let found = 0;
      for (const embedding of queries) {
        const hits = await source.retrieve({ tenant: 'local', embedding, topK: 10, filters: [] }, neverAborted());
        const least = bestScores(vectors, embedding)[9]! - 1e-6; // of equals any will do
        found += hits.filter(({ score }) => score >= least).length;
      }
      expect(found).toBeGreaterThanOrEqual(size < 1_000 ? 200 : 198);
    },
  );
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
      const query = make();
      const hits = await source.retrieve({ tenant: 'local', embedding: query, topK: 10, filters: [] }, neverAborted());
      const scores = bestScores([...held.values()].map(({ embedding }) => [...embedding as number[]]), query);
      expect(hits.filter(({ score }, at) => Math.abs(score - scores[at]!) < 1e-6).length).toBeGreaterThanOrEqual(9);
      const filters = [{ field: 'at', op: 'lt', value: 500 } as const];
      const few = await source.retrieve({ tenant: 'local', embedding: query, topK: 200, filters }, neverAborted());
      expect(few.every(({ metadata }) => Number(metadata['at']) < 500)).toBe(true);
    }
    const { items, details } = await source.stats('local', neverAborted());
    expect(items).toBe(held.size);
    expect(details).toMatchObject({ vectors: held.size });
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
