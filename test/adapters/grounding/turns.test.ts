import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTextThesaurus } from '../../../src/search/thesaurus.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { createTurns } from '../../../src/base/turns.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Counts the looks at a clock that goes on by half a millisecond with each, and the turns that the work leaves to others. */
function watch() {
  let time = performance.now() + 1_000;
  let [looks, looksThen, longest, turns] = [0, 0, 0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => {
    looks++;
    return time += 0.5;
  });
  const later = 'setImmediate' in globalThis ? setImmediate : setTimeout;
  vi.stubGlobal('setImmediate', (work: () => void) => {
    longest = Math.max(longest, looks - looksThen);
    looksThen = looks;
    turns++;
    later(work);
  });
  return () => ({ longest: Math.max(longest, looks - looksThen), turns, looks });
}

describe('createTurns', () => {
  it('lets others have their turn after two milliseconds, also when several go on in the same one', async () => {
    const seen = watch();
    for (let piece = 0; piece < 50; piece++) {
      const turns = createTurns();
      for (let i = 0; i < 3; i++) await turns.next(); // no piece is long enough by itself
    }
    const { turns, looks } = seen();
    expect(looks).toBeGreaterThan(150);
    expect(turns).toBeGreaterThan(8);
  });

  it('cuts the building of a thesaurus', async () => {
    const seen = watch();
    await createTextThesaurus(Array.from({ length: 300 }, (_, at) => `word${at} other${at}`).join(';'), '');
    const { longest, turns } = seen();
    expect(longest).toBeLessThan(20);
    expect(turns).toBeGreaterThan(8);
  });

  it('stops with its signal', () => {
    expect(() => createTurns(AbortSignal.abort()).next()).toThrow('was stopped');
  });
});

describe('work on a data source', () => {
  const random = randomNumbers(3);
  const vector = (): number[] => Array.from({ length: 32 }, () => random() - 0.5);

  it.each([
    ['vectors', () => vectorSource({ id: 'v' }), { embedding: vector() }, { size: 5_500, looksAnItem: 3 }],
    ['texts', () => textSource({ id: 't' }), { query: 'item' }, { size: 1_000, looksAnItem: 2 }],
  ])(
    'is cut in turns, for it looks at the clock at every item: %s',
    async (_name, create, question, { size, looksAnItem }) => {
      const source = create();
      const all = Array.from({ length: size }, (_, at) => ({ id: `i${at}`, text: `Item ${at}`, embedding: vector() }));
      const seen = watch();
      for (let from = 0; from < size; from += 500) {
        await source.remember({ tenant: 'local', items: all.slice(from, from + 500) }, neverAborted());
      }
      await source.retrieve({ tenant: 'local', topK: 10, filters: [], ...question }, neverAborted());
      const { longest, turns, looks } = seen();
      expect(looks).toBeGreaterThan(looksAnItem * size);
      expect(longest).toBeLessThan(20);
      expect(turns).toBeGreaterThan(looks / 10);
    },
  );
});
