import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventLog } from '../../../src/events/index.ts';
import type { Storage } from '../../../src/index.ts';
import { at, start } from '../../fixtures/kept-events.ts';

const zeros = '0'.repeat(64);
const prefix = ['event-log', 'events'];

describe('verify of createEventLog', () => {
  const tool = (id: string) => ({ target: { type: 'tool', id } });

  /** A chain of five records; the event of record 3 alone has the target `sub`. */
  async function setup() {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    for (const ms of [0, 1]) await log.append([at(ms)]);
    const { head: early } = await log.verify();
    for (const ms of [2, 3, 4]) await log.append([at(ms, ms === 2 ? tool('sub') : {})]);
    const headKey = [...prefix, 'head'];
    return { storage, log, early, headKey };
  }

  it('returns the current head of a chain that is whole', async () => {
    const { log, early } = await setup();
    const { head, ...rest } = await log.verify();
    expect(rest).toEqual({ ok: true, checked: 5 });
    expect(head).toEqual({ seq: 5, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await log.verify({ anchor: head })).toEqual({ ok: true, checked: 5, head });
    expect(await log.verify({ anchor: early })).toEqual({ ok: true, checked: 5, head });
    expect(await log.verify({ anchor: { seq: 0, hash: zeros } })).toEqual({ ok: true, checked: 5, head });
  });

  it('returns the origin as the head of an empty chain', async () => {
    const head = { seq: 0, hash: zeros };
    const log = createEventLog({ storage: memoryStorage() });
    expect(await log.verify({ anchor: head })).toEqual({ ok: true, checked: 0, head });
  });

  it.each([
    ['traceId', 'a'.repeat(32)],
    ['actor', 'helper'],
    ['action', 'tool.call'],
    ['target', 'sub'],
  ])('reports an index row of %s that was deleted', async (field, value) => {
    const { storage, log } = await setup();
    await storage.commit([{ key: [...prefix, field, value, 3] }]);
    const result = await log.verify();
    expect(result).toMatchObject({ ok: false, checked: 2, brokenAt: 3, reason: 'index_missing' });
    expect(result.head.seq).toBe(5);
  });

  it('reports the first of several index rows that were deleted', async () => {
    const { storage, log } = await setup();
    const deleted = [['target', 'add', 4], ['action', 'tool.call', 2], ['actor', 'helper', 5]];
    await storage.commit(deleted.map((row) => ({ key: [...prefix, ...row] })));
    expect(await log.verify()).toMatchObject({ ok: false, checked: 1, brokenAt: 2, reason: 'index_missing' });
  });

  it.each<[what: string, row: readonly (string | number)[], brokenAt: number]>([
    ['an entry with another value', ['actor', 'mallory', 3], 3],
    ['an entry with the value of others', ['target', 'add', 3], 3],
    ['an entry that does not exist', ['action', 'tool.call', 9], 9],
    ['a part of an entry', ['action', 'tool.call', 2.5], 0],
    ['no number', ['action', 'tool.call', 'x'], 0],
    ['more than an entry', ['action', 'tool.call', 4, 4], 4],
  ])('reports an index row that names %s', async (_what, row, brokenAt) => {
    const { storage, log } = await setup();
    await storage.commit([{ key: [...prefix, ...row], value: true }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 5, brokenAt, reason: 'index_mismatch' });
  });

  it('reports a row that was moved to another value', async () => {
    const { storage, log } = await setup();
    await storage.commit([
      { key: [...prefix, 'target', 'sub', 3] },
      { key: [...prefix, 'target', 'add', 3], value: true },
    ]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 3, reason: 'index_missing' });
  });

  it.each(['rolled back', 'removed', 'replaced by something else'])(
    'reports entries behind a head that was %s',
    async (how) => {
      const { storage, log, early, headKey } = await setup();
      const value = { 'rolled back': early, 'replaced by something else': 'none' }[how];
      await storage.commit([{ key: headKey, ...(value !== undefined && { value }) }]);
      const brokenAt = how === 'rolled back' ? 3 : 1;
      expect(await log.verify()).toMatchObject({ ok: false, brokenAt, reason: 'entries_beyond_head' });
    },
  );

  it('reports entries behind a rolled-back head that has moved on since', async () => {
    const { storage, log, early, headKey } = await setup();
    await storage.commit([{ key: headKey, value: early }]);
    await log.append([at(2, tool('sub'))]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 4, reason: 'entries_beyond_head' });
  });

  it('reports index rows that a rolled-back chain left behind', async () => {
    const { storage, log, early, headKey } = await setup();
    const left = [3, 4, 5].map((seq) => ({ key: [...prefix, 'event', seq] }));
    await storage.commit([{ key: headKey, value: early }, ...left]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 3, reason: 'index_mismatch' });
  });

  it('reports a head with another hash', async () => {
    const { storage, log, headKey } = await setup();
    await storage.commit([{ key: headKey, value: { seq: 5, hash: 'f'.repeat(64) } }]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 5, reason: 'head_mismatch' });
  });

  it('reports an entry that was removed, and one whose value is not an entry', async () => {
    const { storage, log } = await setup();
    const key = [...prefix, 'event', 3];
    await storage.commit([{ key, value: null }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 2, brokenAt: 3, reason: 'entry_mismatch' });
    await storage.commit([{ key }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 2, brokenAt: 3, reason: 'entry_missing' });
  });

  it('reports a chain that was rolled back consistently only against an anchor', async () => {
    const { log } = await setup();
    const { head: anchor } = await log.verify();
    const older = createEventLog({ storage: memoryStorage() });
    for (const ms of [0, 1]) await older.append([at(ms)]);
    const { head } = await older.verify();
    expect(await older.verify()).toEqual({ ok: true, checked: 2, head });
    expect(await older.verify({ anchor })).toEqual({
      ok: false,
      checked: 0,
      head,
      brokenAt: 3,
      reason: 'anchor_missing',
    });
    for (const ms of [7, 8, 9, 10]) await older.append([at(ms)]);
    expect(await older.verify({ anchor })).toMatchObject({ ok: false, brokenAt: 5, reason: 'anchor_mismatch' });
  });

  it.each([
    { seq: Number.NaN, hash: zeros },
    { seq: -1, hash: zeros },
    { seq: 1.5, hash: zeros },
    { seq: 1, hash: '' },
    { seq: 1, hash: 'F'.repeat(64) },
  ])('rejects the anchor $seq $hash', async (anchor) => {
    const { log } = await setup();
    await expect(log.verify({ anchor })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'anchor_invalid' },
    });
  });

  it('passes a chain of many pages, and finds one deleted row and one forged row in it', async () => {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    for (let ms = 0; ms < 450; ms += 5) {
      await log.append([0, 1, 2, 3, 4].map((more) => at(ms + more, tool(`tool-${ms % 7}`))));
    }
    expect(await log.verify()).toMatchObject({ ok: true, checked: 450 });
    const forged = [...prefix, 'actor', 'mallory', 401];
    await storage.commit([{ key: forged, value: true }]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 401, reason: 'index_mismatch' });
    await storage.commit([{ key: forged }, { key: [...prefix, 'actor', 'helper', 301] }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 300, brokenAt: 301, reason: 'index_missing' });
  });

  it('reads a whole chain in pages, not row by row', async () => {
    const storage = memoryStorage();
    let reads = 0;
    const counting: Storage = {
      ...storage,
      get: (key) => (reads++, storage.get(key)),
      list: (options) => (reads++, storage.list(options)),
    };
    const log = createEventLog({ storage: counting });
    for (let ms = 0; ms < 400; ms += 20) await log.append(Array.from({ length: 20 }, (_, more) => at(ms + more)));
    reads = 0;
    expect(await log.verify()).toMatchObject({ ok: true, checked: 400 });
    expect(reads).toBeLessThan(40);
  });

  it('passes a chain that grows while it is read', async () => {
    const storage = memoryStorage();
    const writer = createEventLog({ storage });
    for (const ms of [0, 1, 2]) await writer.append([at(ms)]);
    let ms = 3;
    const growing: Storage = {
      ...storage,
      async list(options) {
        if (ms < 20) await writer.append([at(ms++, tool('new'))]);
        return await storage.list(options);
      },
    };
    expect(await createEventLog({ storage: growing }).verify()).toMatchObject({
      ok: true,
      checked: 3,
      head: { seq: 3 },
    });
    expect(await writer.verify()).toMatchObject({ ok: true, checked: ms });
  });

  it('accepts a beginning that has expired, and reports when the anchor has', async () => {
    let now = start;
    const storage = memoryStorage({ now: () => now });
    const log = createEventLog({ storage, retentionMs: 1000 });
    const anchors = [];
    for (const ms of [0, 600, 900]) {
      now = start + ms;
      await log.append([at(ms)]);
      anchors.push((await log.verify()).head);
    }
    const [first, second, third] = anchors;
    now = start + 1700;
    expect(await log.verify()).toEqual({ ok: true, checked: 1, head: third });
    expect(await log.verify({ anchor: first })).toEqual({ ok: true, checked: 1, head: third, anchorExpired: true });
    expect(await log.verify({ anchor: second })).toEqual({ ok: true, checked: 1, head: third });
    const other = { seq: 2, hash: 'f'.repeat(64) };
    expect(await log.verify({ anchor: other })).toMatchObject({ ok: false, brokenAt: 2, reason: 'anchor_mismatch' });
    now = start + 5000;
    expect(await log.verify({ anchor: third })).toEqual({ ok: true, checked: 0, head: third });
    expect(await log.verify({ anchor: { seq: 3, hash: zeros } })).toMatchObject({ reason: 'anchor_mismatch' });
    expect(await log.verify({ anchor: second })).toMatchObject({ ok: true, anchorExpired: true });
  });

  it('passes entries that expire while their index is read', async () => {
    let now = start;
    const storage = memoryStorage({ now: () => now });
    const log = createEventLog({ storage, retentionMs: 1000 });
    await log.append([at(0)]);
    now += 500;
    await log.append([at(500)]);
    let lists = 0;
    const slow: Storage = {
      ...storage,
      async list(options) {
        if (++lists === 2) now = start + 1200;
        return await storage.list(options);
      },
    };
    expect(await createEventLog({ storage: slow, retentionMs: 1000 }).verify()).toMatchObject({
      ok: true,
      head: { seq: 2 },
    });
  });

  it('reports a forged index row also when a row expires while they are counted', async () => {
    let now = start;
    const storage = memoryStorage({ now: () => now });
    const log = createEventLog({ storage, retentionMs: 1000 });
    await log.append([at(0)]);
    now += 500;
    await log.append([at(500)]);
    const forged = ['traceId', 'actor', 'action', 'target'].map((field) => [...prefix, field, 'forged', 2]);
    await storage.commit(forged.map((key) => ({ key, value: true })));
    const expiring: Storage = {
      ...storage,
      async list(options) {
        if (options.prefix.length === prefix.length + 1 && options.prefix.at(-1) === 'traceId') now = start + 1200;
        return await storage.list(options);
      },
    };
    const reader = createEventLog({ storage: expiring, retentionMs: 1000 });
    expect(await reader.verify()).toMatchObject({ ok: false, brokenAt: 2, reason: 'index_mismatch' });
  });

  it('reports a beginning that was deleted before it expired, by the index rows it left', async () => {
    let now = start;
    const storage = memoryStorage({ now: () => now });
    const log = createEventLog({ storage, retentionMs: 1000 });
    await log.append([at(0), at(1)]);
    await storage.commit([{ key: [...prefix, 'event', 1] }]);
    expect(await log.verify()).toMatchObject({ ok: false, brokenAt: 1, reason: 'index_mismatch' });
    now += 2000;
    expect(await log.verify()).toMatchObject({ ok: true, checked: 0 });
  });
});
