import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createChatIndex } from '../../../../demo/chat/store/chat-index.ts';
import { createChatStore } from '../../../../demo/chat/store/chat-store.ts';
import type { Message } from '../../../../demo/chat/state/message.ts';
import type { Storage } from '../../../../src/contracts/storage.ts';

let clock = 0;

async function save(storage: Storage, id: string, title: string, ...texts: readonly string[]): Promise<void> {
  const messages = texts.map((text, at): Message => ({ role: 'user', id: `${id}-${at}`, text }));
  const head = { id, agentId: 'mate', title, createdAt: 1, updatedAt: ++clock };
  await createChatStore(storage).save(head, { messages, from: 0 });
}

const idsOf = async (storage: Storage, query: string, index = createChatIndex(storage)) =>
  (await index.search(query, 10)).map(({ chatId }) => chatId);

async function harbor(): Promise<Storage> {
  const storage = memoryStorage();
  await save(storage, 'whale', 'A trip', 'We saw a whale, large and grey', 'It dived twice');
  await save(storage, 'tides', 'Tides at the quay', 'High water is at noon');
  await save(storage, 'quay', 'Paint', 'The quay needs paint before the tide');
  return storage;
}

describe('the index of the chats', () => {
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
    const [hit] = await createChatIndex(storage).search('parkng lot', 10);
    expect(hit?.excerpt).toMatch(/^….*The parking lot opens at six\.$/);
    expect(hit?.ranges.map(([from, to]) => hit.excerpt.slice(from, to))).toEqual(['parking', 'lot']);
    expect(hit?.found).toBe('parking');
    const [titled] = await createChatIndex(storage).search('handbook', 10);
    expect(titled).toEqual({ chatId: 'long', excerpt: '', ranges: [] });
  });

  it('follows what is written, renamed and deleted, in this tab or in another', async () => {
    const storage = await harbor();
    const index = createChatIndex(storage);
    expect(await idsOf(storage, 'anchor', index)).toEqual([]);
    await save(storage, 'tides', 'Anchor', 'High water is at noon');
    expect(await idsOf(storage, 'anchor', index)).toEqual(['tides']);
    await createChatStore(storage).remove('tides');
    expect(await idsOf(storage, 'anchor', index)).toEqual([]);
    expect(await idsOf(storage, 'noon', index)).toEqual([]);
  });

  it('is stored, so that a later visit reads only what has changed', async () => {
    const storage = await harbor();
    await createChatIndex(storage).search('whale', 10);
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
    await createChatIndex(storage).search('whale', 10);
    expect(JSON.stringify(await storage.get(['search', 'index']))).toContain('whale');
    await createChatStore(storage).remove('whale');
    expect(await storage.get(['search', 'index'])).toBeUndefined();
  });

  it('works on a full disk, and with an index that cannot be read', async () => {
    const storage = await harbor();
    const full: Storage = { ...storage, commit: () => Promise.reject(new Error('full')) };
    expect(await idsOf(full, 'whale')).toEqual(['whale']);
    await storage.commit([{ key: ['search', 'index'], value: { format: 1, versions: [], json: 'no JSON' } }]);
    expect(await idsOf(storage, 'whale')).toEqual(['whale']);
  });
});
