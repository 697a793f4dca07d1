import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventBlocks, createEventLog } from '../../../src/events/index.ts';
import type { ObservedEvent, Storage } from '../../../src/index.ts';
import { all, at, start } from '../../fixtures/kept-events.ts';

describe('createEventLog', () => {
  it('stores events in order, numbered from 1, each with the hash of the one before', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    await Promise.all([log.append([at(0), at(1)]), log.append([at(2)])]);
    await log.append([at(3)]);
    const { items } = await log.list();
    expect(items.map(({ seq, event: { timestamp } }) => [seq, Date.parse(timestamp) - start])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
    ]);
    expect(items.map(({ prevHash }) => prevHash)).toEqual([
      '0'.repeat(64),
      ...items.slice(0, 3).map(({ hash }) => hash),
    ]);
    expect(await log.verify()).toMatchObject({ ok: true, checked: 4 });
  });

  it('writes many at once in few commits', async () => {
    const storage = memoryStorage();
    let commits = 0;
    const counted: Storage = { ...storage, commit: (changes) => (commits++, storage.commit(changes)) };
    const log = createEventLog({ storage: counted });
    await Promise.all(Array.from({ length: 190 }, (_, ms) => log.append([at(ms)])));
    expect(commits).toBeLessThanOrEqual(12);
    expect(await log.verify()).toMatchObject({ ok: true, checked: 190 });
  });

  it.each<[string, (event: ObservedEvent) => unknown]>([
    ['the time', (one) => ({ ...one, timestamp: '2026-01-01T00:00:00.000Z' })],
    ['the actor', (one) => ({ ...one, actor: { type: 'agent', id: 'other' } })],
    ['the action', (one) => ({ ...one, action: 'tool.list' })],
    ['the target', (one) => ({ ...one, target: { type: 'tool', id: 'sub' } })],
    ['the status', (one) => ({ ...one, status: 'denied' })],
    ['the error', (one) => ({ ...one, error: { code: 'internal', message: '', retryable: false } })],
    ['an addition', (one) => ({ ...one, more: true })],
  ])('sees a change of %s', async (_, change) => {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    await log.append([at(0), at(1), at(2)]);
    const key = ['event-log', 'events', 'event', 2];
    const logged = (await storage.get(key))?.value as { event: ObservedEvent };
    await storage.commit([{ key, value: { ...logged, event: change(logged.event) } }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 1, brokenAt: 2 });
  });

  it('detects a rollback or a rewrite of everything by an anchor that was stored elsewhere', async () => {
    const logOf = async (...events: readonly ObservedEvent[]) => {
      const log = createEventLog({ storage: memoryStorage() });
      await log.append(events);
      return log;
    };
    const whole = await logOf(at(0), at(1), at(2));
    const { items } = await whole.list();
    const [, , last] = items;
    if (!last) throw new Error('No last entry');
    const anchor = { seq: last.seq, hash: last.hash };
    expect(await whole.verify({ anchor })).toMatchObject({ ok: true, checked: 3 });
    const older = await logOf(at(0), at(1));
    expect(await older.verify()).toMatchObject({ ok: true });
    expect(await older.verify({ anchor })).toMatchObject({ ok: false, checked: 0, brokenAt: 3 });
    expect(await (await logOf(at(0), at(1), at(3))).verify({ anchor })).toMatchObject({
      ok: false,
      checked: 2,
      brokenAt: 3,
    });
  });

  it.each([[1, 0], [2, 1], [3, 2]])('sees that number %i was taken out', async (seq, checked) => {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    await log.append([at(0), at(1), at(2)]);
    await storage.commit([{ key: ['event-log', 'events', 'event', seq] }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked, brokenAt: seq });
  });

  it('goes on with the page tokens of former versions, which hold a number alone', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    await log.append([at(0), at(1), at(2)]);
    const { nextPageToken = '' } = await log.list({ limit: 2 });
    const { q } = JSON.parse(atob(nextPageToken)) as { q: string };
    const { items } = await log.list({ limit: 2, pageToken: btoa(JSON.stringify({ q, a: '2' })) });
    expect(items.map(({ seq }) => seq)).toEqual([3]);
  });

  it('stops checking with the signal', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    await log.append([at(0)]);
    await expect(log.verify({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });

  it('sees that all was taken out', async () => {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    await log.append([at(0), at(1)]);
    const kept = await storage.list({ prefix: ['event-log', 'events', 'event'], limit: 10 });
    await storage.commit(kept.map(({ key }) => ({ key })));
    expect(await log.verify()).toMatchObject({ ok: false, checked: 0, brokenAt: 1 });
  });
});

describe.each([
  ['createEventLog', createEventLog],
  ['createEventBlocks', createEventBlocks],
])('%s', (_name, create) => {
  it('reads its head only when another writer may have moved it', async () => {
    const storage = memoryStorage();
    let reads = 0;
    const log = create({ storage: { ...storage, get: (key) => (reads++, storage.get(key)) } });
    for (let ms = 1; ms <= 5; ms++) await log.append([at(ms)]);
    expect(reads).toBe(1);
    await create({ storage }).append([at(6)]);
    await log.append([at(7)]);
    expect(await all(log)).toEqual([1, 2, 3, 4, 5, 6, 7].map((ms) => at(ms)));
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
});

describe('createEventBlocks', () => {
  it('lists the others where the text of a block is damaged', async () => {
    const storage = memoryStorage();
    const log = createEventBlocks({ storage });
    for (const events of [[at(0)], [at(1), at(2)], [at(3)]]) await log.append(events);
    await storage.commit([{ key: ['event-blocks', 'events', 'block', 2], value: { text: 'no JSON' } }]);
    expect(await all(log)).toEqual([at(0), at(3)]);
  });
});
