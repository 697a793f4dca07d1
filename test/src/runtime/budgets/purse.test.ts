import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { PinnaceError, type Storage } from '../../../../src/index.ts';
import { type Amounts, Purse, type SpentRecord } from '../../../../src/runtime/purse.ts';

/** Numbers from a seed, between 0 and 1. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** A storage whose calls fail by chance: before they act, or after, when the answer is lost. */
function faulty(storage: Storage, { random, chance }: { random: () => number; chance: () => number }): Storage {
  const failing = async <T>(work: () => Promise<T>): Promise<T> => {
    const draw = random();
    if (draw < chance() / 2) throw new PinnaceError('unavailable', 'Out of reach');
    const result = await work();
    if (draw < chance()) throw new PinnaceError('unavailable', 'The answer was lost');
    return result;
  };
  return {
    ...storage,
    get: (key) => failing(() => storage.get(key)),
    commit: (changes) => failing(() => storage.commit(changes)),
  };
}

interface Given {
  readonly limit?: Amounts;
  readonly storage?: Storage;
  readonly period?: string;
  readonly random?: () => number;
}

function purseOf(
  { limit = { tokens: 10_000 }, storage = memoryStorage(), period = 'p1', random = Math.random }: Given,
) {
  const told: string[] = [];
  const purse = new Purse({
    storage,
    key: ['spent', 't1', 'day', '', period],
    limit,
    ttlMs: 1e9,
    graceMs: 0,
    random,
    exceeded: (measure) => new PinnaceError('budget_exceeded', `No ${measure}`, { details: { reason: measure } }),
    emit: (what, measure) => void told.push(`${what} ${measure}`),
  });
  const spend = async (tokens: number): Promise<void> => purse.settle(await purse.take({ tokens }), { tokens });
  const granted = async (): Promise<SpentRecord> =>
    (await storage.get(['spent', 't1', 'day', '', period]))?.value as SpentRecord;
  return { purse, spend, granted, told, storage };
}

describe('a purse', () => {
  it('waits for calls under way that may leave something', async () => {
    const { purse } = purseOf({});
    const first = await purse.take({ tokens: 10_000 });
    const second = purse.take({ tokens: 4_000 });
    purse.settle(first, { tokens: 6_000 });
    expect(await second).toEqual({ tokens: 4_000 });
    const third = purse.take({ tokens: 1 });
    purse.settle({ tokens: 4_000 }, { tokens: 4_000 });
    await expect(third).rejects.toThrow('No tokens');
  });

  it('gives back what is left, for others to use', async () => {
    const storage = memoryStorage();
    const [one, other] = [purseOf({ storage }), purseOf({ storage })];
    await one.spend(50);
    await one.purse.giveBack();
    expect((await one.granted()).tokens).toBe(50);
    await other.spend(9_950);
    await expect(other.spend(1)).rejects.toThrow('No tokens');
  });

  it('warns at 80 % and says that it is spent, once over all instances', async () => {
    const storage = memoryStorage();
    const purses = [purseOf({ storage }), purseOf({ storage }), purseOf({ storage })];
    for (let at = 0; at < 60; at++) await purses[at % 3]!.spend(200).catch(() => undefined);
    expect(purses.flatMap(({ told }) => told).toSorted()).toEqual(['spent tokens', 'warn tokens']);
  });

  it('pays nothing while its storage is out of reach', async () => {
    const base = memoryStorage();
    let isDown = true;
    const storage = faulty(base, { random: () => 0, chance: () => isDown ? 1 : 0 });
    const { spend } = purseOf({ storage });
    await expect(spend(1)).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'budget_unavailable' } });
    isDown = false;
    await spend(1);
  });

  it('never grants more than the limit, and loses only what it cannot know: 3 instances, kills, faults and ends of periods', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed);
      const base = memoryStorage();
      const limit = 1_000 + Math.floor(random() * 20_000);
      const storage = faulty(base, { random, chance: () => seed % 2 === 0 ? 0.15 : 0 });
      let period = 0;
      const purse = () => purseOf({ storage, limit: { tokens: limit }, period: `p${period}`, random: () => 0 }).purse;
      const instances = [purse(), purse(), purse()];
      let [used, kills] = [0, 0];
      const recordOf = async () =>
        (await base.get(['spent', 't1', 'day', '', `p${period}`]))?.value as SpentRecord | undefined;
      const check = async (): Promise<void> => {
        const tokens = (await recordOf())?.tokens ?? 0;
        expect(tokens, `seed ${seed}`).toBeLessThanOrEqual(limit);
        expect(used, `seed ${seed}`).toBeLessThanOrEqual(tokens);
      };
      for (let step = 0; step < 150; step++) {
        const at = Math.floor(random() * 3);
        const draw = random();
        if (draw < 0.03) {
          instances[at] = purse();
          kills++;
        } else if (draw < 0.08) await instances[at]!.giveBack().catch(() => undefined);
        else if (draw < 0.09) {
          await check();
          period++;
          instances.splice(0, 3, purse(), purse(), purse());
          used = 0;
        } else {
          await Promise.all(instances.map(async (one) => {
            const most = { tokens: 1 + Math.floor(random() * 900) };
            const got = await one.take({ tokens: 1 }, most).catch(() => undefined);
            const spent = Math.floor((got?.tokens ?? 0) * random());
            await Promise.resolve();
            used += spent;
            if (got) one.settle(got, { tokens: spent });
          }));
        }
        await check();
      }
      const isWhole = kills === 0 && seed % 2 === 1 && period === 0;
      for (const one of instances) await one.giveBack().catch(() => undefined);
      await check();
      if (isWhole) expect((await recordOf())?.tokens ?? 0, `seed ${seed}`).toBe(used);
    }
  });

  it('without faults has granted exactly what was used, once all is given back', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomOf(seed);
      const storage = memoryStorage();
      const instances = Array.from({ length: 3 }, () => purseOf({ storage, random: () => 0 }));
      let used = 0;
      for (let call = 0; call < 60; call++) {
        await Promise.all(instances.map(async ({ purse }) => {
          const got = await purse.take({ tokens: 1 }, { tokens: 1 + Math.floor(random() * 400) }).catch(() =>
            undefined
          );
          const spent = Math.floor((got?.tokens ?? 0) * random());
          used += spent;
          if (got) purse.settle(got, { tokens: spent });
        }));
      }
      for (const { purse } of instances) await purse.giveBack();
      expect((await instances[0]!.granted()).tokens).toBe(used);
    }
  });
});
