import { showBeside } from '../../../../demo/app/state/screens.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  FoundParts,
  KnowledgeControl,
  KnowledgeFile,
  KnowledgeNews,
  OpenedKnowledge,
} from '../../../../demo/control/knowledge-control.ts';
import type { Answer } from '../../../../demo/control/answer.ts';
import { mount, type Page } from '../../../fixtures/page/playground.tsx';

let page: Page;
/** What the worker is asked, in order. */
let asked: (readonly [name: string, ...input: readonly unknown[]])[];
let emit: (news: Partial<KnowledgeNews>) => void;

const file = (name: string, rest: Partial<KnowledgeFile> = {}): KnowledgeFile => ({
  name,
  kind: 'document',
  size: 2_400,
  state: 'ready',
  done: 3,
  total: 3,
  addedAt: 43_200_000,
  ...rest,
});
const good = <T,>(value: T): Promise<Answer<T>> => Promise.resolve({ ok: true, value });
const nothing: FoundParts = { parts: [], answered: 0.9, tookMs: 2, hasMore: false, problems: [] };
const part = { id: 'a.md#2', file: 'a.md', kind: 'document', piece: 2, title: 'Tides', lines: [7, 9] } as const;

/** Mounts the page over a worker that answers so, and opens the panel. */
async function open(opened: Partial<OpenedKnowledge>, answers: Partial<KnowledgeControl> = {}): Promise<void> {
  const note = <T,>(name: string, value: T) => (...input: readonly unknown[]): Promise<Answer<T>> => {
    asked.push([name, ...input]);
    return good(value);
  };
  const report = { added: 1, replaced: 0, unchanged: 0, copies: [], refused: 0, leftOut: 0 };
  const control: KnowledgeControl = {
    open(onNews) {
      emit = (news) => onNews({ changed: [], removed: [], ...news });
      return good({ files: [], isStored: true, ...opened });
    },
    add: note('add', report),
    addGuide: note('addGuide', { ...report, added: 6 }),
    stop: note('stop', undefined),
    resume: note('resume', undefined),
    remove: note('remove', undefined),
    search: note('search', nothing),
    content: () => good(new Blob()),
    parts: ({ file: name, from }) =>
      good({
        file: file(name),
        total: 3,
        parts: [0, 1, 2].map((piece) => ({ piece, text: `Part ${piece} <b>of</b> ${name}, from ${from}` })),
      }),
    ...answers,
  };
  page = await mount({ knowledge: { control } });
  showBeside(page.playground, 'knowledge');
  await page.find('knowledge-panel');
}

const text = (testId: string): string | undefined => page.all(testId)[0]?.textContent ?? undefined;
const rowOf = (name: string) => page.all('knowledge-file').find(({ dataset }) => dataset['name'] === name);
const button = (name: string, testId: string) => rowOf(name)?.querySelector<HTMLElement>(`[data-testid=${testId}]`);

beforeEach(() => {
  asked = [];
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600); // nothing is laid out here
});

afterEach(() => {
  page.unmount();
  vi.restoreAllMocks();
});

describe('the knowledge panel', () => {
  it('says that it is being opened, and why it could not be', async () => {
    const { promise, resolve } = Promise.withResolvers<Answer<OpenedKnowledge>>();
    await open({}, { open: () => promise });
    expect(text('knowledge-panel')).toContain('Loading files');
    resolve({ ok: false, error: { code: 'unavailable', message: 'Cannot open it', retryable: true } });
    await vi.waitFor(() => expect(text('knowledge-problem')).toContain('Cannot open it'));
    expect(text('knowledge-panel')).not.toContain('Loading files');
  });

  it('offers files, folders and the guide while there is nothing', async () => {
    await open({});
    await page.find('knowledge-empty');
    expect(page.all('knowledge-add-folder')).toHaveLength(1);
    await page.click('knowledge-guide');
    await vi.waitFor(() => expect(text('knowledge-note')).toContain('6 files added.'));
    expect(asked).toEqual([['addGuide']]);
  });

  it('shows of each file how far it is, and what can be done with it', async () => {
    const error = {
      code: 'invalid_argument',
      message: 'Cannot read the file: it is not text',
      retryable: false,
    } as const;
    await open({
      files: [
        file('b/ready.md'),
        file('b/working.txt', { state: 'indexing', done: 50, total: 200 }),
        file('b/waiting.txt', { state: 'waiting', done: 0, total: 0 }),
        file('a/stopped.txt', { state: 'stopped', done: 50, total: 200 }),
        file('failed.bin', { state: 'failed', done: 0, error }),
        file('mast.ts', { kind: 'code', done: 40, total: 40 }),
        file('quay.png', { kind: 'picture', skipped: ['the picture: agents find only text'] }),
        file('tides.pdf', { read: '12 pages', skipped: ['page 3: no text'] }),
      ],
    });
    await page.find('knowledge-file');
    const rows = page.all('knowledge-file').map((row) => [
      row.dataset['name'],
      row.querySelector('.know-file-meta')?.textContent,
      [...row.querySelectorAll('.know-file-actions button')].map((one) => one.getAttribute('aria-label')),
    ]);
    expect(rows).toEqual([
      ['a/stopped.txt', 'Stopped at 50 of 200 passages', ['Resume stopped.txt', 'Remove stopped.txt']],
      ['b/ready.md', '2.4 kB · added Jan 1', ['Search only in ready.md', 'Remove ready.md']],
      ['b/waiting.txt', '2.4 kB · waiting', ['Stop waiting.txt', 'Remove waiting.txt']],
      ['b/working.txt', '50 of 200 passages', ['Stop working.txt', 'Remove working.txt']],
      ['failed.bin', 'Cannot read the file: it is not text', ['Remove failed.bin']],
      ['mast.ts', '2.4 kB · 40 lines · added Jan 1', ['Search only in mast.ts', 'Remove mast.ts']],
      ['quay.png', '2.4 kB · added Jan 1', ['Remove quay.png']],
      [
        'tides.pdf',
        '2.4 kB · 12 pages · not all of it read · added Jan 1',
        ['Search only in tides.pdf', 'Remove tides.pdf'],
      ],
    ]);
    expect(rowOf('b/working.txt')?.querySelector('progress')?.getAttribute('value')).toBe('50');
    expect(text('knowledge-indexing')).toBe('Indexing 1 of 2: b/working.txt');
    button('b/working.txt', 'knowledge-stop')?.click();
    button('a/stopped.txt', 'knowledge-resume')?.click();
    await vi.waitFor(() => expect(asked).toEqual([['stop', 'b/working.txt'], ['resume', 'a/stopped.txt']]));
    await page.click('knowledge-failed');
    await vi.waitFor(() => expect(page.all('knowledge-file')).toHaveLength(1));
    await page.click('knowledge-remove-failed');
    await vi.waitFor(() => expect(asked.at(-1)).toEqual(['remove', ['failed.bin']]));
  });

  it('asks before it removes a file', async () => {
    await open({ files: [file('a.md')] });
    await page.find('knowledge-file');
    await page.click('knowledge-remove');
    await page.find('knowledge-remove-yes');
    expect(asked).toEqual([]);
    await page.click('knowledge-remove-yes');
    await vi.waitFor(() => expect(asked).toEqual([['remove', ['a.md']]]));
    emit({ removed: ['a.md'] });
    await page.find('knowledge-empty');
  });

  it('follows the worker, and reads out when all is indexed', async () => {
    await open({ files: [file('a.md', { state: 'indexing', done: 0 })] });
    await page.find('knowledge-indexing');
    emit({ changed: [file('a.md'), file('b.md', { state: 'failed' })] });
    await vi.waitFor(() => expect(page.all('knowledge-indexing')).toHaveLength(0));
    expect(rowOf('a.md')?.dataset['state']).toBe('ready');
    expect(text('announcement')).toBe('Indexed 1 file');
    expect(text('knowledge-status')).toBe('2 files');
  });

  it('says what became of files that were chosen, and of a full storage what to do', async () => {
    const full = {
      code: 'unavailable',
      message: 'Full',
      retryable: false,
      details: { reason: 'storage_full' },
    } as const;
    const report = { added: 0, replaced: 1, unchanged: 2, copies: [], refused: 0, leftOut: 4 };
    const answers: Answer<typeof report>[] = [{ ok: true, value: report }, { ok: false, error: full }];
    await open({ files: [file('a.md')] }, { add: () => Promise.resolve(answers.shift()!) });
    const choose = async (): Promise<void> => {
      const input = await page.find('knowledge-input') as HTMLInputElement;
      Object.defineProperty(input, 'files', { configurable: true, value: [new File(['x'], 'x.txt')] });
      input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    await choose();
    await vi.waitFor(() =>
      expect(text('knowledge-note')).toBe(
        '1 file replaced; 2 files already here, unchanged; 4 files skipped: neither text nor code.',
      )
    );
    await choose();
    await vi.waitFor(() =>
      expect(text('knowledge-problem')).toContain('Remove files here, or old chats, to free up space.')
    );
  });

  it('says that nothing is stored where the browser provides no storage', async () => {
    await open({ isStored: false });
    await vi.waitFor(() => expect(text('knowledge-problem')).toContain('files you add are lost when the page closes'));
  });

  it('searches once one has stopped typing, and says why a part was found', async () => {
    const found: FoundParts = {
      parts: [{
        ...part,
        content: 'High water is at noon <img src=x>',
        ranges: [[0, 4], [5, 10]],
        confidence: 0.86,
        foundBy: [{ way: 'words', rank: 1, score: 12.345, confidence: 0.8 }, {
          way: 'likeness',
          rank: 3,
          score: 0.4,
          confidence: 0.004,
        }],
      }],
      answered: 0.9,
      tookMs: 3,
      hasMore: true,
      problems: ['The data source took longer than 20000 ms'],
    };
    const search = vi.fn<KnowledgeControl['search']>(() => good(found));
    await open({ files: [file('a.md')] }, { search });
    for (const typed of ['h', 'hi', 'high water']) await page.type('knowledge-search', typed);
    await page.find('knowledge-result');
    expect(search.mock.calls).toEqual([[{ text: 'high water', files: [], limit: 20 }]]);
    const [result] = page.all('knowledge-result');
    expect([...result?.querySelectorAll('.know-snippet mark') ?? []].map((mark) => mark.textContent)).toEqual([
      'High',
      'water',
    ]);
    expect(result?.querySelector('img')).toBeNull();
    expect(result?.querySelector('.confidence')?.textContent).toContain('strong match, confidence 86%');
    expect([...result?.querySelectorAll('tbody tr') ?? []].map((row) => row.textContent)).toEqual([
      'Words1BM25 12.3580%',
      'Similarity3cosine 0.40< 1%',
    ]);
    expect(text('knowledge-results')).toContain('1 passage and more, in 3 ms');
    expect(text('knowledge-results')).toContain('took longer than');
    await page.click('knowledge-more');
    await vi.waitFor(() => expect(search).toHaveBeenLastCalledWith({ text: 'high water', files: [], limit: 100 }));
    await page.click('knowledge-only-file');
    await vi.waitFor(() => expect(search).toHaveBeenLastCalledWith({ text: 'high water', files: ['a.md'], limit: 20 }));
    await page.click('knowledge-scope');
    await vi.waitFor(() => expect(search).toHaveBeenLastCalledWith({ text: 'high water', files: [], limit: 20 }));
  });

  it('says when nothing was found, and when the search failed', async () => {
    const answers: Answer<FoundParts>[] = [
      { ok: true, value: nothing },
      { ok: false, error: { code: 'internal', message: 'Cannot search', retryable: false } },
    ];
    await open({ files: [file('a.md')] }, { search: () => Promise.resolve(answers.shift()!) });
    await page.type('knowledge-search', 'xylophone');
    await vi.waitFor(() => expect(text('knowledge-found')).toBe('No results. Try other words.'));
    await page.type('knowledge-search', 'xylophones');
    await vi.waitFor(() => expect(text('knowledge-found')).toBe('Cannot search'));
    await page.type('knowledge-search', '');
    await page.find('knowledge-files');
  });

  it('opens a file as text, whatever stands in it, and goes back to where it was opened', async () => {
    await open({ files: [file('a.md')] });
    await page.find('knowledge-file');
    (await page.find('knowledge-read')).focus();
    await page.click('knowledge-read');
    await vi.waitFor(() => expect(page.all('knowledge-part')).toHaveLength(3));
    expect(page.all('knowledge-part')[1]?.textContent).toContain('Part 1 <b>of</b> a.md');
    expect(page.all('knowledge-part')[1]?.querySelector('b')).toBeNull();
    (await page.find('knowledge-reader')).focus();
    page.press('Escape');
    await vi.waitFor(() => expect(page.all('knowledge-reader')).toHaveLength(0));
    expect(document.activeElement?.getAttribute('data-testid')).toBe('knowledge-read');
  });

  it('opens a place on request from elsewhere, and says when its file was removed', async () => {
    const gone = { code: 'not_found', message: 'Cannot open "b.md": it was removed', retryable: false } as const;
    const parts: KnowledgeControl['parts'] = ({ file: name }) =>
      name === 'b.md'
        ? Promise.resolve({ ok: false, error: gone })
        : good({ file: file(name), total: 3, parts: [0, 1, 2].map((piece) => ({ piece, text: `Part ${piece}` })) });
    await open({ files: [file('a.md')] }, { parts });
    page.playground.knowledge.wanted.value = { file: 'a.md', piece: 2 };
    await vi.waitFor(() =>
      expect(page.all('knowledge-part').map(({ dataset }) => dataset['place'])).toEqual(['false', 'false', 'true'])
    );
    page.playground.knowledge.wanted.value = { file: 'a.md', piece: 2, contentHash: 'another' };
    await vi.waitFor(() => expect(text('knowledge-reader')).toContain('This passage changed after it was cited.'));
    page.playground.knowledge.wanted.value = { file: 'a.md', piece: 7 };
    await vi.waitFor(() => expect(text('knowledge-reader')).toContain('this passage no longer exists'));
    page.playground.knowledge.wanted.value = { file: 'b.md', piece: 0 };
    await vi.waitFor(() => expect(text('knowledge-reader')).toContain('it was removed'));
  });

  it('stands in the place of the tree; the side bar leads to the same files as a page', async () => {
    await open({ files: [file('a.md')] });
    page.press('t', { altKey: true, code: 'KeyT' });
    await page.find('tree-panel');
    expect(page.all('knowledge-panel')).toHaveLength(0);
    showBeside(page.playground, 'knowledge');
    await page.find('knowledge-panel');
    expect(page.all('tree-panel')).toHaveLength(0);
    await page.click('open-files');
    await page.find('files');
    expect(page.all('knowledge-panel')).toHaveLength(0);
    expect(page.all('knowledge-file')).toHaveLength(1);
  });
});
