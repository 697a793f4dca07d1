import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { SearchIndex } from '../../../demo/search/search-index.ts';
import { createChatStore } from '../../../demo/chat/store/chat-store.ts';
import type { Message } from '../../../demo/chat/state/message.ts';
import type { Storage } from '../../../src/contracts/storage.ts';

let clock = 0;

async function save(storage: Storage, id: string, title: string, ...texts: readonly string[]): Promise<void> {
  const messages = texts.map((text, at): Message => ({ role: 'user', id: `${id}-${at}`, text }));
  const head = { id, agentId: 'mate', title, createdAt: 1, updatedAt: ++clock };
  await createChatStore(storage).save(head, { messages, from: 0 });
}

const idsOf = async (storage: Storage, query: string, index = new SearchIndex(storage)) =>
  (await index.search(query)).map(({ id }) => id);

async function harbor(): Promise<Storage> {
  const storage = memoryStorage();
  await save(storage, 'whale', 'A trip', 'We saw a whale, large and grey', 'It dived twice');
  await save(storage, 'tides', 'Tides at the quay', 'High water is at noon');
  await save(storage, 'quay', 'Paint', 'The quay needs paint before the tide');
  return storage;
}

describe('the search index', () => {
  it.each(['grey whale', 'whale grey', 'whales', 'whael', 'whal', 'GREY', 'dived whale'])(
    'finds "%s"',
    async (query) => {
      expect(await idsOf(await harbor(), query)).toEqual(['whale']);
    },
  );

  it('finds words of any language', async () => {
    const storage = await harbor();
    await save(storage, 'ja', '', '東京の天気はどうですか');
    expect(await idsOf(storage, '天気')).toEqual(['ja']);
  });

  it('puts a title before a text, and finds all words or nothing', async () => {
    const storage = await harbor();
    expect(await idsOf(storage, 'quay')).toEqual(['tides', 'quay']);
    expect(await idsOf(storage, 'whale quay')).toEqual([]);
    expect(await idsOf(storage, '   ')).toEqual([]);
  });

  it('shows the words where they are', async () => {
    const storage = await harbor();
    await save(storage, 'long', 'Handbook', `# Office\n\n${'Lorem ipsum. '.repeat(50)}The parking lot opens at six.`);
    const [hit] = await new SearchIndex(storage).search('parkng lot');
    expect(hit?.excerpt?.text).toMatch(/^….*The parking lot opens at six\.$/);
    expect(hit?.excerpt?.ranges.map(([from, to]) => hit.excerpt?.text.slice(from, to))).toEqual(['parking', 'lot']);
    expect(hit?.found).toBe('parking');
    const [titled] = await new SearchIndex(storage).search('handbook');
    expect(titled).toEqual({ kind: 'chat', id: 'long', part: 0, terms: ['handbook'] });
  });

  it('follows what is written, renamed and deleted, in this tab or in another', async () => {
    const storage = await harbor();
    const index = new SearchIndex(storage);
    expect(await idsOf(storage, 'anchor', index)).toEqual([]);
    await save(storage, 'tides', 'Anchor', 'High water is at noon');
    expect(await idsOf(storage, 'anchor', index)).toEqual(['tides']);
    await createChatStore(storage).remove('tides');
    expect(await idsOf(storage, 'anchor', index)).toEqual([]);
    expect(await idsOf(storage, 'noon', index)).toEqual([]);
  });

  it('is stored, so that a later visit reads only what has changed', async () => {
    const storage = await harbor();
    await new SearchIndex(storage).search('whale');
    await save(storage, 'whale', 'A trip', 'We saw a dolphin');
    const read = new Set<unknown>();
    const counting: Storage = {
      ...storage,
      list: (options) => {
        if (options.prefix[0] === 'message') read.add(options.prefix[1]);
        return storage.list(options);
      },
    };
    expect(await idsOf(counting, 'dolphin')).toEqual(['whale']);
    expect([...read]).toEqual(['whale']);
  });

  it('leaves no word of a deleted chat behind', async () => {
    const storage = await harbor();
    await new SearchIndex(storage).search('whale');
    expect(await storage.get(['search', 'index'])).toBeDefined();
    await createChatStore(storage).remove('whale');
    expect(await storage.get(['search', 'index'])).toBeUndefined();
  });

  it('works on a full disk, and with an index that cannot be read', async () => {
    const storage = await harbor();
    const full: Storage = { ...storage, commit: () => Promise.reject(new Error('full')) };
    expect(await idsOf(full, 'whale')).toEqual(['whale']);
    await storage.commit([{ key: ['search', 'index'], value: { format: 2, versions: [], packed: new Uint8Array(3) } }]);
    expect(await idsOf(storage, 'whale')).toEqual(['whale']);
  });

  it('has what the page gives beside the chats, follows it, and names the part', async () => {
    const storage = await harbor();
    const index = new SearchIndex(storage);
    const tides = {
      id: 'tides.md',
      version: '1',
      title: 'tides.md',
      texts: ['Of Neptune', 'A spring tide at the quay'],
    };
    expect(await index.follow('file', [['tides.md', '1']])).toEqual(['tides.md']);
    await index.add('file', [tides]);
    await index.add('command', [{ id: 'keys', version: '1', title: 'Keyboard shortcuts', words: 'hotkeys' }]);
    expect(await index.search('sprng tide')).toMatchObject([{ kind: 'file', id: 'tides.md', part: 1 }]);
    expect(await idsOf(storage, 'hotkeys', index)).toEqual(['keys']);
    expect(await idsOf(storage, 'k', index)).toContain('keys');
    const later = new SearchIndex(storage);
    expect(await later.follow('file', [['tides.md', '1']])).toEqual([]);
    expect(await idsOf(storage, 'neptune', later)).toEqual(['tides.md']);
    expect(await later.follow('file', [])).toEqual([]);
    expect(await idsOf(storage, 'neptune', later)).toEqual([]);
    await later.forget();
    expect(await storage.get(['search', 'index'])).toBeUndefined();
  });
});
