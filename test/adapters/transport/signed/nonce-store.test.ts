import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createNonceStore, type NonceStore } from '../../../../adapters/transport/signed/revocations.ts';
import { PinnaceError, type Storage } from '../../../../src/index.ts';
import { createClock } from './session.ts';

async function codeOf(claim: Promise<void>): Promise<string> {
  try {
    await claim;
    return 'taken';
  } catch (error) {
    return (error as PinnaceError).code;
  }
}

async function claimsOf(store: NonceStore, pairs: readonly (readonly [string, string])[]): Promise<string[]> {
  return await Promise.all(pairs.map(([key, nonce]) => codeOf(store.claim(key, nonce))));
}

/** A storage that fails in the given way. */
const failing = (failure: unknown): Storage => ({ ...memoryStorage(), commit: () => Promise.reject(failure) });
const unavailable = (reason: string) =>
  new PinnaceError('unavailable', 'The store', { retryable: false, details: { reason } });

describe('a nonce', () => {
  it('is taken by one of 50 who ask at once', async () => {
    const store = createNonceStore({ storage: memoryStorage() });
    const said = await claimsOf(store, Array.from({ length: 50 }, () => ['key', 'nonce']));
    expect(said.filter((each) => each === 'taken')).toHaveLength(1);
    expect(said.filter((each) => each === 'signature_replayed')).toHaveLength(49);
  });

  it('is taken once per key, in whatever order and on whatever instance of one store', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const claim = fc.tuple(name, name, fc.nat(2));
    await fc.assert(fc.asyncProperty(fc.array(claim, { maxLength: 60 }), fc.scheduler(), async (claims, scheduler) => {
      const storage = memoryStorage();
      const slow: Storage = { ...storage, commit: scheduler.scheduleFunction((changes) => storage.commit(changes)) };
      const stores = [0, 1, 2].map(() => createNonceStore({ storage: slow }));
      const saying = Promise.all(
        claims.map(([key, nonce, at]) => codeOf((stores[at] as NonceStore).claim(key, nonce))),
      );
      await scheduler.waitFor(saying);
      const taken = (await saying).filter((each) => each === 'taken').length;
      expect(taken).toBe(new Set(claims.map(([key, nonce]) => `${key}/${nonce}`)).size);
    }));
  });

  it('stays used for as long as its signature could be accepted, and is removed afterwards', async () => {
    const clock = createClock();
    const storage = memoryStorage({ now: clock.now });
    const store = createNonceStore({ storage });
    await store.claim('key', 'nonce');
    clock.advance(121); // from 30 s before `created` to 30 s after `expires`, and the second that is cut off
    expect(await codeOf(store.claim('key', 'nonce'))).toBe('signature_replayed');
    clock.advance(10);
    expect(await storage.list({ prefix: [], limit: 10 })).toEqual([]);
  });

  it.each<[string, Storage, string]>([
    ['a full store', failing(unavailable('storage_full')), 'replay_store_full'],
    ['a closed store', failing(unavailable('storage_closed')), 'overloaded'],
    ['a store out of reach', failing(unavailable('storage_blocked')), 'overloaded'],
    ['a store that breaks', failing(new TypeError('x')), 'overloaded'],
  ])('is refused to everybody by %s', async (_name, storage, code) => {
    await expect(createNonceStore({ storage }).claim('key', 'nonce'))
      .rejects.toMatchObject({ code, status: 503, retryable: true });
  });

  it('is refused by a memory that is really full, or closed', async () => {
    const storage = memoryStorage({ maxEntries: 2 });
    const store = createNonceStore({ storage });
    const said = await claimsOf(store, [['key', '1'], ['key', '2'], ['key', '3'], ['key', '1']]);
    expect(said).toEqual(['taken', 'taken', 'replay_store_full', 'signature_replayed']);
    await storage.close();
    expect(await codeOf(store.claim('key', '4'))).toBe('overloaded');
  });
});
