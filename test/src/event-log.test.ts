import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createEventLog, type EventLog, type EventQuery, type ObservedEvent, type Storage } from '../../src/index.ts';

const start = Date.parse('2026-11-21T00:00:00.000Z');

function event(overrides: Partial<ObservedEvent> = {}): ObservedEvent {
  return {
    timestamp: new Date(start).toISOString(),
    traceId: 'a'.repeat(32),
    actor: { type: 'agent', id: 'helper' },
    action: 'tool.call',
    target: { type: 'tool', id: 'add' },
    status: 'ok',
    latency: 1,
    error: null,
    payloadSummary: '',
    ...overrides,
  };
}

const at = (ms: number, more: Partial<ObservedEvent> = {}) =>
  event({ timestamp: new Date(start + ms).toISOString(), ...more });

/** Every event that the query finds, page by page. */
async function all(log: EventLog, query: EventQuery = {}): Promise<readonly ObservedEvent[]> {
  const events: ObservedEvent[] = [];
  let pageToken: string | undefined;
  do {
    const page = await log.list({ ...query, ...(pageToken !== undefined && { pageToken }) });
    events.push(...page.items.map((logged) => logged.event));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return events;
}

describe('createEventLog', () => {
  it('keeps events in order, numbered from 1, each with the hash of the one before', async () => {
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
    expect(await log.verify()).toEqual({ ok: true, checked: 4 });
  });

  it('writes many at once in few commits', async () => {
    const storage = memoryStorage();
    let commits = 0;
    const counted: Storage = { ...storage, commit: (changes) => (commits++, storage.commit(changes)) };
    const log = createEventLog({ storage: counted });
    await Promise.all(Array.from({ length: 190 }, (_, ms) => log.append([at(ms)])));
    expect(commits).toBeLessThanOrEqual(12);
    expect(await log.verify()).toEqual({ ok: true, checked: 190 });
  });

  it('is one chain, whoever writes', async () => {
    const storage = memoryStorage();
    const logs = [1, 2, 3].map(() => createEventLog({ storage }));
    await Promise.all(logs.flatMap((log) => Array.from({ length: 20 }, async (_, ms) => await log.append([at(ms)]))));
    expect(await logs[0]?.verify()).toEqual({ ok: true, checked: 60 });
    expect(await all(createEventLog({ storage, name: 'other' }))).toEqual([]);
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
      limit: fc.constantFrom(1, 7, 200),
    });
    await fc.assert(
      fc.asyncProperty(events, queries, async (given, { from, until, ...query }) => {
        const log = createEventLog({ storage: memoryStorage() });
        const list = given.toSorted((a, b) => a.ms - b.ms).map(({ ms, traceId, actor, action, target }) =>
          at(ms, { traceId, action, actor: { type: 'agent', id: actor }, target: { type: 'tool', id: target } })
        );
        await log.append(list);
        const wanted = list.filter((one) =>
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
      }),
      { numRuns: 60 },
    );
  });

  it('finds by time across clocks that differ by less than a minute', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    const ahead = at(30_000, { target: { type: 'tool', id: 'ahead' } });
    await log.append([at(0), ahead, at(10_000), at(20_000), at(300_000)]);
    expect(await all(log, { from: start + 30_000 })).toEqual([ahead, at(300_000)]);
  });

  it('refuses a page that is none', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    await log.append([at(0), at(1)]);
    const { nextPageToken = '' } = await log.list({ limit: 1 });
    await expect(log.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(log.list({ pageToken: 'x' })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(log.list({ pageToken: nextPageToken, actor: 'helper' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
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
    expect(await log.verify()).toEqual({ ok: false, checked: 1, brokenAt: 2 });
  });

  it.each([[1, 0], [2, 1], [3, 2]])('sees that number %i was taken out', async (seq, checked) => {
    const storage = memoryStorage();
    const log = createEventLog({ storage });
    await log.append([at(0), at(1), at(2)]);
    await storage.commit([{ key: ['event-log', 'events', 'event', seq] }]);
    expect(await log.verify()).toEqual({ ok: false, checked, brokenAt: seq });
  });

  it('forgets what is older than the retention, and the rest is still a chain', async () => {
    let now = start;
    const log = createEventLog({ storage: memoryStorage({ now: () => now }), retentionMs: 1000 });
    await log.append([at(0), at(1)]);
    now += 900;
    await log.append([at(900)]);
    now += 200;
    expect(await all(log)).toEqual([at(900)]);
    expect(await all(log, { actor: 'helper', from: start })).toEqual([at(900)]);
    expect(await log.verify()).toEqual({ ok: true, checked: 1 });
    now += 10_000;
    expect(await log.verify()).toEqual({ ok: true, checked: 0 });
    await log.append([at(11_100)]);
    expect((await log.list()).items.map(({ seq }) => seq)).toEqual([4]);
  });

  it('rejects as its storage does, keeps nothing of that, and goes on afterwards', async () => {
    const storage = memoryStorage();
    let broken = true;
    const flaky: Storage = {
      ...storage,
      commit: (changes) => broken ? Promise.reject(new Error('Disk full')) : storage.commit(changes),
    };
    const log = createEventLog({ storage: flaky });
    await expect(log.append([at(0)])).rejects.toThrow('Disk full');
    broken = false;
    await log.append([at(1)]);
    expect(await all(log)).toEqual([at(1)]);
    expect(await log.verify()).toEqual({ ok: true, checked: 1 });
  });

  it('stops checking with the signal', async () => {
    const log = createEventLog({ storage: memoryStorage() });
    await log.append([at(0)]);
    await expect(log.verify({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });
});
