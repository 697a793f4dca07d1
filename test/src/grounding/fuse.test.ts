import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, monotone, type SourceHits } from '../../../src/grounding/fuse.ts';
import { hitOf } from '../../fixtures/grounding-source.ts';

const list = (dataSourceId: string, ...hits: SourceHits['hits']): SourceHits => ({
  dataSourceId,
  kind: 'search',
  weight: 1,
  calibrated: false,
  hits,
});

/** Lists of sources whose hits partly agree in content or in lines. */
const lists = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    hits: fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('1', '2', '3', '4', '5'),
        content: fc.constantFrom('x', 'y', 'z'),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        line: fc.option(fc.integer({ min: 1, max: 3 })),
      }),
      { selector: ({ id }) => id },
    ),
  }),
  { selector: ({ id }) => id },
).map((sources) =>
  sources.map(({ id, hits }) =>
    list(
      id,
      ...hits.map(({ id: hitId, content, confidence, line }) =>
        hitOf(hitId, {
          content,
          confidence,
          source: { uri: 'u', version: '1', ...(line !== null && { lines: [line, line] as const }) },
        })
      ),
    )
  )
);

describe('fuse', () => {
  it('takes agreement of sources, in content or in lines, for more confidence, at most 0.99', () => {
    const same = { content: 'same', confidence: 0.6 };
    expect(fuse([list('a', hitOf('1', same)), list('b', hitOf('2', same))])[0]?.confidence).toBeCloseTo(0.84);
    const lines = (content: string) => ({
      content,
      confidence: 0.98,
      source: { uri: 'u', version: '1', lines: [3, 9] as const },
    });
    expect(fuse([list('a', hitOf('1', lines('x'))), list('b', hitOf('2', lines('y')))])).toMatchObject([{
      confidence: 0.99,
    }]);
    expect(fuse([list('a', hitOf('1', same), hitOf('2', same))]).map(({ confidence }) => confidence)).toEqual([
      0.6,
      0.6,
    ]);
  });

  it('counts a source by its weight', () => {
    const [first] = fuse([list('a', hitOf('1')), { ...list('b', hitOf('2')), weight: 2 }]);
    expect(first?.id).toBe('2');
  });

  it('takes an item that two sources show in different parts for one hit', () => {
    const part = (id: string, uri: string, content: string) => hitOf(id, { content, source: { uri, version: '1' } });
    const hash = '0123456789abcdef0123456789abcdef';
    const hits = fuse([
      list('a', part('guide', 'docs/guide', 'The start'), part(hash, 'a/one', 'Its start'), part('7', 'a/7', 'x')),
      list('b', part('guide', 'docs/guide', 'The middle'), part(hash, 'b/one', 'Its end'), part('7', 'b/7', 'y')),
    ]);
    expect(hits.map(({ id }) => id)).toEqual(['guide', hash, '7', '7']);
  });

  it('is the same for every order of the sources, and with a source without hits', () => {
    fc.assert(fc.property(lists, (sources) => {
      const expected = fuse(sources);
      expect(fuse(sources.toReversed())).toEqual(expected);
      expect(fuse([...sources.slice(1), ...sources.slice(0, 1)])).toEqual(expected);
      expect(fuse([...sources, list('empty')])).toEqual(expected);
    }));
  });

  it('never lets confidence rise down the list, nor leave 0..1', () => {
    fc.assert(fc.property(lists, (sources) => {
      const confidences = fuse(sources).map(({ confidence }) => confidence);
      for (const [at, confidence] of confidences.entries()) {
        expect(confidence).toBeLessThanOrEqual((confidences[at - 1] ?? 1) + 1e-12);
        expect(confidence).toBeGreaterThanOrEqual(0);
      }
    }));
  });
});

describe('monotone', () => {
  it('returns what falls as it is, and means where it rises', () => {
    expect(monotone([0.9, 0.5, 0.1])).toEqual([0.9, 0.5, 0.1]);
    expect(monotone([0.2, 0.4, 0.1])).toEqual([0.30000000000000004, 0.30000000000000004, 0.1]);
    expect(monotone([])).toEqual([]);
  });
});
