import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEventBlocks } from '../../../src/events/index.ts';
import type { Storage } from '../../../src/index.ts';
import { at } from '../../fixtures/kept-events.ts';

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
