/** Many schedules over three instances that die beside any commit and whose clocks differ: each occurrence once, or on record. */

import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { localPrincipal, type Storage } from '../../../src/index.ts';
import type { ScheduleFire } from '../../../src/runtime/index.ts';
import { nextTimes } from '../../../src/schedules/when.ts';
import { share } from '../../fixtures/budget.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Asia/Kolkata',
  'America/St_Johns',
];
const [dayMs, hourMs] = [86_400_000, 3_600_000];

/** Numbers from 0 to 1 that a seed repeats. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** An instance of the runtime whose storage stops answering beside a commit, some day. */
function instanceOf(
  storage: Storage,
  clock: { at: number },
  { chance, starts, lives }: { chance: () => number; starts: string[]; lives?: number },
) {
  const skewMs = Math.round((chance() - 0.5) * 40_000);
  let [left, isDead] = [lives ?? 10 + Math.floor(chance() * 400), false];
  const mortal: Storage = {
    ...storage,
    get: (key) => isDead ? Promise.reject(new Error('dead')) : storage.get(key),
    list: (options) => isDead ? Promise.reject(new Error('dead')) : storage.list(options),
    async commit(changes) {
      if (isDead) throw new Error('dead');
      const dies = --left <= 0;
      if (dies && chance() < 0.5) isDead = true;
      if (isDead) throw new Error('dead'); // before the commit
      const result = await storage.commit(changes);
      if (result.ok) { for (const { key } of changes) if (key[0] === 'idempotency') starts.push(String(key.at(-1))); }
      if (dies) isDead = true; // after it
      if (isDead) throw new Error('dead');
      return result;
    },
  };
  const { model } = scriptedModel(...Array.from({ length: 600 }, () => says('done')));
  const runtime = testRuntime({
    model,
    storage: mortal,
    now: () => clock.at + skewMs,
    limits: { storageGraceMs: 0 },
    recovery: false,
  });
  return { runtime, isDead: () => isDead };
}

async function simulated(seed: number, { days, schedules }: { days: number; schedules: number }) {
  const chance = chanceOf(seed);
  const clock = { at: Date.parse('2026-10-20T00:00:00Z') };
  const storage = memoryStorage({ now: () => clock.at });
  const starts: string[] = [];
  const setup = testRuntime({ ...scriptedModel(), storage, now: () => clock.at });
  const made = [];
  for (let at = 0; at < schedules; at++) {
    const cron = `${Math.floor(chance() * 60)} ${Math.floor(chance() * 24)} * * *`;
    const when = { cron, timeZone: zones[at % zones.length] ?? 'UTC' };
    const { id } = await setup.schedules.create({
      agentId: 'helper',
      name: `s${at}`,
      message: 'Hi',
      overlap: 'allow',
      catchUpMs: 2 * hourMs,
      when,
    }, me);
    made.push({ id, when });
  }
  await setup.close();
  const [from, until] = [clock.at, clock.at + days * dayMs];
  const instances = [0, 1, 2].map(() => instanceOf(storage, clock, { chance, starts }));
  let kills = 0;
  while (clock.at < until) {
    clock.at += chance() < 0.02 ? 5 * hourMs : Math.ceil(chance() * 20 * 60_000); // now and then nobody looks for long
    for (const [at, one] of instances.entries()) {
      if (one.isDead()) {
        kills++;
        instances[at] = instanceOf(storage, clock, { chance, starts });
      }
    }
    await Promise.all(instances.map(({ runtime }) => runtime.sweep().catch(() => 0)));
  }
  clock.at += 3 * 60_000;
  const { runtime: last } = instanceOf(storage, clock, { chance, starts, lives: Infinity });
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    await last.sweep();
    clock.at += 61_000;
  }
  const end = clock.at;
  return { made, storage, starts, kills, from, end };
}

describe('schedules over instances that die', () => {
  it.each(share([1, 2, 3], 3))('start each occurrence once, or have it on record, seed %i', async (seed) => {
    const { made, storage, starts, kills, from, end } = await simulated(seed, { days: 25, schedules: 16 });
    const seen = new Map<string, number>();
    for (const key of starts) seen.set(key, (seen.get(key) ?? 0) + 1);
    expect([...seen].filter(([, count]) => count > 1)).toEqual([]); // no key of an occurrence was taken twice
    for (const { id, when } of made) {
      const fires = (await storage.list({ prefix: ['schedule-fire', id], limit: 1000 })).map(({ value }) =>
        value as ScheduleFire
      );
      expect(fires.filter(({ outcome }) => outcome === 'claimed')).toEqual([]); // none is left between claim and start
      const since = Math.max(from, end - 29 * dayMs); // the history has 30 days
      const expected = nextTimes(when, { after: from, count: 400 }).filter((at) => at <= end - 10 * 60_000);
      const recent = fires.filter(({ at }) => at > since);
      const covered = recent.reduce((sum, { count = 1 }) => sum + count, 0);
      expect(covered, id).toBeGreaterThanOrEqual(expected.filter((at) => at > since).length);
      for (const { at, outcome } of fires) {
        if (outcome === 'started') expect(expected.includes(at) || at > end - 10 * 60_000, `${id} ${at}`).toBe(true);
      }
      const started = fires.filter(({ outcome }) => outcome === 'started').map(({ at }) => at);
      for (const at of started) {
        expect(seen.has(`${id}:${at}`) || at > end - 6 * 61_000 - 3 * 60_000, `${id} ${at}`).toBe(true);
      }
    }
    expect(kills).toBeGreaterThan(3);
  }, 60_000);
});
