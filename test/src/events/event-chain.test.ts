import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventBlocks, createEventLog } from '../../../src/events/index.ts';
import { all, at, start } from '../../fixtures/kept-events.ts';

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
