import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { GroundingItem, SourceHit } from '../../../src/contracts/index.ts';
import { filteringGroundingContract, writableGroundingContract } from '../../contracts/index.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';
import { itemSubject, neverAborted, writableSubject } from '../../fixtures/grounding.ts';

describe('textSource keeps the contract', () => {
  it.each(filteringGroundingContract)('$name', async ({ run }) => {
    await expect(run(itemSubject(textSource, memoryStorage()))).resolves.toBeUndefined();
  });
  it.each(writableGroundingContract)('$name', async ({ run }) => {
    await expect(run(writableSubject(textSource, memoryStorage()))).resolves.toBeUndefined();
  });
});

async function found(items: readonly GroundingItem[], query: string, topK = 10): Promise<readonly SourceHit[]> {
  const source = textSource({ id: 'notes' });
  await source.remember({ tenant: 'local', items }, neverAborted());
  return await source.retrieve({ tenant: 'local', query, topK, filters: [] }, neverAborted());
}

describe('textSource', () => {
  it('finds words in scripts without spaces, in other cases and widths, and in the plural', async () => {
    const items = [
      { id: 'zh', text: '系统从配置的数据源检索结果' },
      { id: 'ja', text: '港の潮は一日に二回満ちる' },
      { id: 'en', text: 'ＡＮＣＨＯＲＳ of many ships' },
    ];
    expect((await found(items, '数据源'))[0]?.id).toBe('zh');
    expect((await found(items, '二回'))[0]?.id).toBe('ja');
    for (const one of ['潮', '回', '果']) expect((await found(items, one))[0]?.id).toBe(one === '果' ? 'zh' : 'ja');
    expect((await found(items, 'anchor ship'))[0]?.id).toBe('en');
  });

  it('finds what is only like the word when nothing has the word, and is less sure of it', async () => {
    const items = ['bridge', 'castle', 'meadow', 'window'].map((id) => ({ id, text: `The old ${id} is here` }));
    const [exact] = await found(items, 'castle');
    const [like] = await found(items, 'castlo');
    expect(like?.id).toBe('castle');
    expect(like!.confidence).toBeLessThan(exact!.confidence);
  });

  it('shows of a long text the part with the matches, and where they are', async () => {
    const text = `${'Nothing to see here. '.repeat(300)}\nThe lighthouse keeper sleeps.\n${'Nor here. '.repeat(300)}`;
    const [hit] = await found([{ id: 'long', text, title: 'A lighthouse' }], 'lighthouse keeper');
    expect(hit?.content.length).toBeLessThanOrEqual(2_000);
    const [from, to] = hit!.contentRange!;
    expect(text.slice(from, to)).toBe(hit?.content);
    const words = hit?.matched.find(({ field }) => field === 'content')?.ranges.map(([start, end]) =>
      hit.content.slice(start, end)
    );
    expect(words).toEqual(['lighthouse', 'keeper']);
    expect(hit?.matched.find(({ field }) => field === 'title')?.ranges).toEqual([[2, 12]]);
  });

  it('orders equal hits by id, whatever the order in which they came', async () => {
    const items = ['c', 'a', 'd', 'b'].map((id) => ({ id, text: 'the same words' }));
    expect((await found(items, 'same words', 3)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('is sure of related questions and not of unrelated ones', async () => {
    const random = randomNumbers(5);
    const pick = (words: readonly string[]): string => words[Math.floor(random() ** 2 * words.length)]!;
    const topics = Array.from({ length: 60 }, (_, at) => Array.from({ length: 12 }, (_n, i) => `topic${at}x${i}`));
    const usual = Array.from({ length: 40 }, (_, at) => `usual${at}`);
    const some = (count: number, ...lists: (readonly string[])[]): string =>
      Array.from({ length: count }, (_, at) => pick(lists[at % lists.length]!)).join(' ');
    const items = Array.from({ length: 600 }, (_, at) => ({ id: `i${at}`, text: some(30, topics[at % 60]!, usual) }));
    const source = textSource({ id: 'notes' });
    await source.remember({ tenant: 'local', items }, neverAborted());
    const topOf = async (query: string): Promise<number> =>
      (await source.retrieve({ tenant: 'local', query, topK: 1, filters: [] }, neverAborted()))[0]?.confidence ?? 0;
    const [related, unrelated] = [[], []] as [number[], number[]];
    for (let i = 0; i < 100; i++) {
      const [first, second] = items[i * 5]!.text.split(' ').filter((word) => word.startsWith('topic'));
      related.push(await topOf(`${first} ${second}`));
      const strange = Array.from({ length: 4 }, () => `strange${Math.floor(random() * 1e6)}`);
      unrelated.push(await topOf(some(4, strange, usual)));
    }
    expect(unrelated.filter((confidence) => confidence <= 0.2).length).toBeGreaterThanOrEqual(95);
    expect(related.filter((confidence) => confidence >= 0.5).length).toBeGreaterThanOrEqual(90);
  });

  it('takes a query without words as one that finds nothing', async () => {
    expect(await found([{ id: 'a', text: 'words' }], '?!…')).toEqual([]);
  });

  it('reads a damaged part of its storage as an error, and never as data', async () => {
    const storage = memoryStorage();
    const source = textSource({ id: 'notes', storage });
    await source.remember({ tenant: 'local', items: [{ id: 'a', text: 'whole' }] }, neverAborted());
    const [part] = await storage.list({ prefix: ['grounding', 'notes', 'local', 'part'], limit: 1 });
    const value = structuredClone(part!.value) as { items: { text: string }[] };
    value.items[0]!.text = 'torn';
    await storage.commit([{ key: part!.key, value }]);
    const other = textSource({ id: 'notes', storage });
    await expect(other.stats('local', neverAborted())).rejects.toMatchObject({
      code: 'internal',
      details: { reason: 'damaged_part' },
    });
  });

  it('writes no value that a storage refuses for many items, and rewrites its log when a fifth is removed', async () => {
    const storage = memoryStorage();
    const source = textSource({ id: 'notes', storage });
    const items = (from: number) =>
      Array.from({ length: 700 }, (_, at) => ({ id: `i${from + at}`, text: `Item ${from + at} ${'x'.repeat(200)}` }));
    await source.remember({ tenant: 'local', items: items(0) }, neverAborted());
    await source.remember({ tenant: 'local', items: items(700) }, neverAborted());
    const prefix = ['grounding', 'notes', 'local', 'part'];
    for (const { value } of await storage.list({ prefix, limit: 1000 })) {
      expect(new TextEncoder().encode(JSON.stringify(value)).length).toBeLessThan(4_194_304);
    }
    const before = await storage.list({ prefix, limit: 1000 });
    await source.forget({ tenant: 'local', ids: items(0).concat(items(400)).map(({ id }) => id) }, neverAborted());
    const after = await storage.list({ prefix, limit: 1000 });
    expect(after.length).toBeLessThan(before.length);
    const other = textSource({ id: 'notes', storage });
    expect((await other.stats('local', neverAborted())).items).toBe(300);
  });
});
