import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createNoteStore } from '../../../demo/tools/note-store.ts';
import type { Storage } from '../../../src/index.ts';

/** A storage that repeats each commit, as one does whose first answer was lost. */
function repeatingStorage(): Storage {
  const inner = memoryStorage();
  return {
    get: (key) => inner.get(key),
    list: (options) => inner.list(options),
    async commit(changes) {
      await inner.commit(changes);
      return await inner.commit(changes);
    },
  };
}

describe('createNoteStore', () => {
  it('adds, appends and deletes once when the storage repeats a commit', async () => {
    const notes = createNoteStore(repeatingStorage(), { tenant: 't', now: () => 0 });
    const { number } = await notes.add({ title: 'Eggs', text: 'Two' });
    expect([number, await notes.count()]).toEqual([1, 1]);
    expect((await notes.append(number, 'and milk')).text).toBe('Two\n\nand milk');
    await notes.delete(number);
    expect([await notes.count(), await notes.list({ limit: 9 })]).toEqual([0, []]);
  });
});
