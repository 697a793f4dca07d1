import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type Cache, type CacheOptions, createCache } from '../../../src/log/cache.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { runs } from '../../fixtures/budget.ts';

type Load = CacheOptions<number>['load'];

function testCache(load: Load, options: Partial<CacheOptions<number>> = {}): Cache<number> {
  return createCache({ name: 'test', load, now: () => 0, metrics: createMetrics(), ...options });
}

const unavailable = () => Promise.reject(new PinnaceError('unavailable', 'The source is away'));

/** A clock, and a source whose answer can be set. */
function setUp(options: Partial<CacheOptions<number>> = {}) {
  const state = { time: 0, loads: 0, answer: (): Promise<number | undefined> => Promise.resolve(1) };
  const cache = testCache(() => (state.loads++, state.answer()), { now: () => state.time, ...options });
  return { state, cache };
}

describe('createCache', () => {
  it('loads once for a thousand who ask at once', async () => {
    const { state, cache } = setUp();
    await Promise.all(Array.from({ length: 1000 }, () => cache.get('a')));
    expect(state.loads).toBe(1);
  });

  it('serves a value that is a little old at once, and the new one next', async () => {
    const { state, cache } = setUp();
    await cache.get('a');
    state.time = 61_000;
    state.answer = () => Promise.resolve(2);
    expect(await cache.get('a')).toBe(1);
    for (let i = 0; i < 20; i++) await Promise.resolve(); // the load behind the answer
    expect(await cache.get('a')).toBe(2);
  });

  it.each(['forbidden', 'not_found', 'unauthenticated'] as const)(
    'does not cover up %s with an old value',
    async (code) => {
      const { state, cache } = setUp();
      await cache.get('a');
      state.time = 300_000;
      state.answer = () => Promise.reject(new PinnaceError(code, 'No'));
      await expect(cache.get('a')).rejects.toMatchObject({ code });
    },
  );

  it('never serves an old value after an invalidation', async () => {
    const { state, cache } = setUp();
    await cache.get('a');
    cache.invalidate('a');
    state.answer = unavailable;
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('gives up on a source that does not answer, and aborts the load', async () => {
    let aborted = false;
    const cache = testCache((_id, signal) => {
      signal.addEventListener('abort', () => (aborted = true));
      return new Promise(() => undefined);
    }, { times: { loadMs: 5 } });
    await expect(cache.get('a')).rejects.toMatchObject({
      code: 'deadline_exceeded',
      details: { reason: 'source_timeout' },
    });
    expect(aborted).toBe(true);
  });

  it('shares values through the storage, and refuses those that are older than their invalidation', async () => {
    let position = 0;
    const shared = { storage: memoryStorage(), source: 'test', position: () => position };
    const first = setUp({ shared });
    const second = setUp({ shared });
    await first.cache.get('a');
    expect(await second.cache.get('a')).toBe(1);
    expect(second.state.loads).toBe(0);
    position += 1;
    for (const { cache } of [first, second]) cache.invalidate('a');
    await second.cache.get('a');
    expect(second.state.loads).toBe(1);
    expect(await first.cache.get('a')).toBe(1); // shared again
    expect(first.state.loads).toBe(1);
  });

  it('refuses every shared entry after an invalidation of all, also those that only other instances have loaded', async () => {
    let position = 0;
    const shared = { storage: memoryStorage(), source: 'test', position: () => position };
    const [loader, reader] = [setUp({ shared }), setUp({ shared })];
    const ids = Array.from({ length: 250 }, (_, i) => `id-${i}`);
    await Promise.all(ids.map((id) => loader.cache.get(id)));
    position += 1;
    reader.cache.invalidate(); // an instance that has none of them
    await Promise.all(ids.map((id) => reader.cache.get(id)));
    expect(reader.state.loads).toBe(250);
  });

  it('never returns an older value to a read that starts after an invalidation', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('read', 'write', 'settle', 'fail', 'wait'), { maxLength: 30 }),
        async (steps) => {
          let time = 0;
          let truth = 1;
          let position = 0;
          const loads: { resolve: (value: number) => void; reject: (error: unknown) => void; value: number }[] = [];
          const cache = testCache(() => {
            const { promise, resolve, reject } = Promise.withResolvers<number>();
            loads.push({ resolve, reject, value: truth }); // what the source held when it was asked
            return promise;
          }, {
            now: () => time,
            shared: { storage: memoryStorage({ now: () => time }), source: 'test', position: () => position },
          });
          const reads: Promise<void>[] = [];
          for (const step of steps) {
            if (step === 'read') {
              const atLeast = truth;
              reads.push(
                cache.get('a').then((value) => expect(value).toBeGreaterThanOrEqual(atLeast), () => undefined),
              );
            } else if (step === 'write') {
              truth += 1;
              position += 1;
              cache.invalidate('a');
            } else if (step === 'wait') time += 50_000;
            else {
              const load = loads.shift();
              if (step === 'settle') load?.resolve(load.value);
              else load?.reject(new PinnaceError('unavailable', 'Away'));
            }
            for (let i = 0; i < 8; i++) await Promise.resolve();
          }
          for (let load = loads.shift(); load; load = loads.shift()) {
            load.resolve(load.value);
            for (let i = 0; i < 20; i++) await Promise.resolve();
          }
          await Promise.all(reads);
        },
      ),
      { numRuns: runs(3000) },
    );
  });
});
