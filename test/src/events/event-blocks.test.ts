import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventBlocks } from '../../../src/events/index.ts';
import type { Storage } from '../../../src/index.ts';
import { all, at } from '../../fixtures/kept-events.ts';

/** A storage, and the sizes of what is committed. */
function counted() {
  const storage = memoryStorage();
  const commits: number[] = [];
  const counting: Storage = {
    ...storage,
    commit(changes) {
      commits.push(changes.length);
      return storage.commit(changes);
    },
  };
  const blocks = () => storage.list({ prefix: ['event-blocks', 'events', 'block'], limit: 1000 });
  return { storage, counting, commits, blocks };
}

describe('createEventBlocks', () => {
  it('stores events that are added at once in one record and one commit, numbered from 1', async () => {
    const { counting, commits, blocks } = counted();
    const log = createEventBlocks({ storage: counting });
    await log.append(Array.from({ length: 100 }, (_, ms) => at(ms)));
    await log.append([at(100)]);
    expect(commits).toEqual([6, 6]);
    expect(await blocks()).toHaveLength(2);
    const { items, nextPageToken = '' } = await log.list({ limit: 99 });
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 99 }, (_, i) => i + 1));
    expect((await log.list({ pageToken: nextPageToken })).items).toEqual(
      [100, 101].map((seq) => ({ seq, event: at(seq - 1) })),
    );
    expect(await log.verify()).toMatchObject({ ok: true, checked: 101 });
  });

  it('cuts blocks of bounded text, and commits of at most 100 changes', async () => {
    const { counting, commits, blocks } = counted();
    const log = createEventBlocks({ storage: counting });
    const apart = Array.from({ length: 200 }, (_, i) => at(i, { target: { type: 'tool', id: `tool-${i}` } }));
    const long = Array.from({ length: 200 }, (_, i) => at(200 + i, { payloadSummary: 'x'.repeat(512) }));
    await log.append([...apart, ...long]);
    expect(Math.max(...commits)).toBeLessThanOrEqual(100);
    const lengths = (await blocks()).map(({ value }) => JSON.stringify(value).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(75_000); // quotes are escaped here once more
    expect(lengths.length).toBeLessThanOrEqual(8);
    expect(await all(log, { target: 'tool-150' })).toEqual([apart[150]]);
    expect(await all(log)).toEqual([...apart, ...long]);
    expect(await log.verify()).toMatchObject({ ok: true, checked: 400 });
  });

  it.each<[string, (text: string) => string]>([
    ['an event', (text) => text.replace('tool.call', 'tool.list')],
    ['the number', (text) => text.replace('"seq":2', '"seq":3')],
    ['the order', (text) => text.replace(/\[(.*\}),(\{"timestamp.*)\]/, '[$2,$1]')],
    ['everything', () => 'no JSON'],
  ])('sees a change of %s', async (_, change) => {
    const { storage, blocks } = counted();
    const log = createEventBlocks({ storage });
    for (const events of [[at(0)], [at(1), at(2)], [at(3)]]) await log.append(events);
    const { key, value } = (await blocks())[1] ?? { key: [], value: { text: '' } };
    const { text, ...rest } = value as { text: string };
    expect(change(text)).not.toBe(text);
    await storage.commit([{ key, value: { ...rest, text: change(text) } }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked: 1, brokenAt: 2 });
  });

  it.each([[0, 1, 0], [1, 2, 1], [2, 4, 3]])('sees that block %i was taken out', async (index, brokenAt, checked) => {
    const { storage, blocks } = counted();
    const log = createEventBlocks({ storage });
    for (const events of [[at(0)], [at(1), at(2)], [at(3)]]) await log.append(events);
    await storage.commit([{ key: (await blocks())[index]?.key ?? [] }]);
    expect(await log.verify()).toMatchObject({ ok: false, checked, brokenAt });
  });
});
