import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventBlocks, createEventLog } from '../../../src/events/index.ts';
import type { Storage } from '../../../src/index.ts';
import { all, at, start } from '../../fixtures/kept-events.ts';

describe.each([
  ['createEventLog', createEventLog, ['event-log', 'events', 'event']],
  ['createEventBlocks', createEventBlocks, ['event-blocks', 'events', 'block']],
])('%s', (_name, create, records) => {
  it('is one chain for all writers', async () => {
    const storage = memoryStorage();
    const logs = [1, 2, 3].map(() => create({ storage }));
    await Promise.all(logs.flatMap((log) => Array.from({ length: 20 }, async (_, ms) => await log.append([at(ms)]))));
    expect(await logs[0]?.verify()).toMatchObject({ ok: true, checked: 60 });
    expect(await all(create({ storage, name: 'other' }))).toEqual([]);
  });

  it('reads its head only when another writer may have moved it', async () => {
    const storage = memoryStorage();
    let reads = 0;
    const log = create({ storage: { ...storage, get: (key) => (reads++, storage.get(key)) } });
    for (let ms = 1; ms <= 5; ms++) await log.append([at(ms)]);
    expect(reads).toBe(1);
    await create({ storage }).append([at(6)]);
    await log.append([at(7)]);
    expect(await all(log)).toEqual([1, 2, 3, 4, 5, 6, 7].map((ms) => at(ms)));
    expect(await log.verify()).toMatchObject({ ok: true, checked: 7 });
  });

  it('returns its bounds, and reports new events', async () => {
    let time = 0;
    const storage = memoryStorage({ now: () => time });
    const log = create({ storage, retentionMs: 1000 });
    let news = 0;
    const stop = log.watch(() => news++);
    expect(await log.bounds()).toEqual({ first: 1, last: 0 });
    await log.append([at(1), at(2)]);
    expect(await create({ storage }).bounds()).toEqual({ first: 1, last: 2 });
    await vi.waitFor(() => expect(news).toBeGreaterThan(0));
    stop();
    time = 900;
    await log.append([at(3)]);
    time = 1100;
    expect(await log.bounds()).toEqual({ first: 3, last: 3 });
    time = 2000;
    expect(await log.bounds()).toEqual({ first: 4, last: 3 });
  });

  it('finds what a naive search finds, page by page', async () => {
    const some = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const events = fc.array(
      fc.record({
        ms: fc.nat(1000),
        traceId: fc.constantFrom('a'.repeat(32), 'b'.repeat(32)),
        actor: fc.constantFrom('one', 'two', '\ud800'),
        action: fc.constantFrom('run.start', 'tool.call'),
        target: fc.constantFrom('x', 'y', 'z'.repeat(300)),
      }),
      { maxLength: 60 },
    );
    const queries = fc.record({
      traceId: some('a'.repeat(32), 'c'.repeat(32)),
      actor: some('one', '\ud800'),
      action: some('tool.call', 'none'),
      target: some('x', 'z'.repeat(300)),
      from: fc.option(fc.nat(1000), { nil: undefined }),
      until: fc.option(fc.nat(1000), { nil: undefined }),
      after: fc.option(fc.nat(70), { nil: undefined }),
      limit: fc.constantFrom(1, 7, 200),
    });
    await fc.assert(
      fc.asyncProperty(
        events,
        queries,
        fc.integer({ min: 1, max: 60 }),
        async (given, { from, until, ...query }, size) => {
          const log = create({ storage: memoryStorage() });
          const list = given.toSorted((a, b) => a.ms - b.ms).map(({ ms, traceId, actor, action, target }) =>
            at(ms, { traceId, action, actor: { type: 'agent', id: actor }, target: { type: 'tool', id: target } })
          );
          for (let i = 0; i < list.length; i += size) await log.append(list.slice(i, i + size));
          const wanted = list.filter((one, i) =>
            i >= (query.after ?? 0) &&
            (query.traceId === undefined || one.traceId === query.traceId) &&
            (query.actor === undefined || one.actor.id === query.actor) &&
            (query.action === undefined || one.action === query.action) &&
            (query.target === undefined || one.target.id === query.target) &&
            (from === undefined || Date.parse(one.timestamp) >= start + from) &&
            (until === undefined || Date.parse(one.timestamp) < start + until)
          );
          const times = {
            from: from === undefined ? from : start + from,
            until: until === undefined ? until : start + until,
          };
          expect(await all(log, { ...query, ...times })).toEqual(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds by time across clocks that differ by less than a minute', async () => {
    const log = create({ storage: memoryStorage() });
    const ahead = at(30_000, { target: { type: 'tool', id: 'ahead' } });
    await log.append([at(0), ahead, at(10_000), at(20_000), at(300_000)]);
    expect(await all(log, { from: start + 30_000 })).toEqual([ahead, at(300_000)]);
  });

  it('refuses a page that is none', async () => {
    const log = create({ storage: memoryStorage() });
    await log.append([at(0), at(1)]);
    const { nextPageToken = '' } = await log.list({ limit: 1 });
    await expect(log.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(log.list({ pageToken: 'x' })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(log.list({ pageToken: nextPageToken, actor: 'helper' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('forgets what is older than the retention, and the rest is still a chain', async () => {
    let now = start;
    const log = create({ storage: memoryStorage({ now: () => now }), retentionMs: 1000 });
    await log.append([at(0), at(1)]);
    now += 900;
    await log.append([at(900)]);
    now += 200;
    expect(await all(log)).toEqual([at(900)]);
    expect(await all(log, { actor: 'helper', from: start })).toEqual([at(900)]);
    expect(await log.verify()).toMatchObject({ ok: true, checked: 1 });
    now += 10_000;
    expect(await log.verify()).toMatchObject({ ok: true, checked: 0 });
    await log.append([at(11_100)]);
    expect((await log.list()).items.map(({ seq }) => seq)).toEqual([4]);
  });

  it('rejects as its storage does, stores nothing of that append, and works afterwards', async () => {
    const storage = memoryStorage();
    let broken = true;
    const flaky: Storage = {
      ...storage,
      commit: (changes) => broken ? Promise.reject(new Error('Disk full')) : storage.commit(changes),
    };
    const log = create({ storage: flaky });
    await expect(log.append([at(0)])).rejects.toThrow('Disk full');
    broken = false;
    await log.append([at(1)]);
    expect(await all(log)).toEqual([at(1)]);
    expect(await log.verify()).toMatchObject({ ok: true, checked: 1 });
  });

  it('stops checking with the signal', async () => {
    const log = create({ storage: memoryStorage() });
    await log.append([at(0)]);
    await expect(log.verify({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });

  it('sees that all was taken out', async () => {
    const storage = memoryStorage();
    const log = create({ storage });
    await log.append([at(0), at(1)]);
    const kept = await storage.list({ prefix: records, limit: 10 });
    await storage.commit(kept.map(({ key }) => ({ key })));
    expect(await log.verify()).toMatchObject({ ok: false, checked: 0, brokenAt: 1 });
  });

  it('stores and finds ids of any length and letters', async () => {
    const log = create({ storage: memoryStorage() });
    const odd = [`${'x'.repeat(255)}\u{1f6a2}`, '\ud800', 'y'.repeat(5000), ''].map((id) =>
      at(0, { target: { type: 'tool', id } })
    );
    await log.append(odd);
    for (const event of odd) expect(await all(log, { target: event.target.id })).toEqual([event]);
    expect(await log.verify()).toMatchObject({ ok: true, checked: odd.length });
  });
});
