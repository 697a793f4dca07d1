import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { KnowledgeFile, Upload } from '../../../../demo/control/knowledge-control.ts';
import { createKnowledgeHost } from '../../../../demo/knowledge/worker/host.ts';
import type { Answer } from '../../../../demo/control/answer.ts';
import { PinnaceError, type Storage } from '../../../../src/index.ts';
import type { Watchable } from '../../../../src/contracts/index.ts';
import { zipOf } from '../../../fixtures/code.ts';
import { linesOfPdf, pdfOf } from '../../../fixtures/pdf.ts';

const upload = (name: string, content: string | Uint8Array<ArrayBuffer>, type?: string): Upload => ({
  name,
  content: new Blob([content]),
  ...(type !== undefined && { type }),
});
const longText = (count: number, word = 'subject'): string =>
  Array.from({ length: count }, (_, at) => `Paragraph ${at} speaks of ${word}${at}. ${'words '.repeat(150)}`).join(
    '\n\n',
  );

function valueOf<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

/** A tab over the storage. */
async function openHost(
  storage: Storage & Partial<Watchable> = memoryStorage(),
  exclusively?: (work: () => Promise<void>) => Promise<void>,
) {
  const host = createKnowledgeHost({ storage, ...(exclusively && { exclusively }) });
  const files = new Map<string, KnowledgeFile>();
  const emitted: KnowledgeFile[] = [];
  const opened = valueOf(
    await host.control.open(({ changed, removed }) => {
      for (const file of changed) files.set(file.name, file);
      for (const name of removed) files.delete(name);
      emitted.push(...changed);
    }),
  );
  for (const file of opened.files) files.set(file.name, file);
  const { control } = host;
  const idle = () =>
    vi.waitFor(() => {
      expect([...files.values()].filter(({ state }) => state === 'waiting' || state === 'indexing')).toEqual([]);
    });
  return {
    ...host,
    files,
    emitted,
    isStored: opened.isStored,
    idle,
    state: (name: string) => files.get(name)?.state,
    add: async (...uploads: readonly Upload[]) => valueOf(await control.add(uploads)),
    find: async (text: string, names: readonly string[] = []) =>
      valueOf(await control.search({ text, files: names, limit: 20 })).parts,
  };
}

describe('the knowledge of the worker', () => {
  it('says what of a file was read, and what was not', async () => {
    const host = await openHost();
    const word = '<w:document><w:body><w:p><w:r><w:t>Old quay</w:t></w:r></w:p></w:body></w:document>';
    await host.add(
      upload('tides.pdf', pdfOf(linesOfPdf('High water'))),
      upload('quay.docx', await zipOf({ 'word/document.xml': word, 'word/media/quay.png': 'a' })),
      upload('words.txt', 'one two three'),
      upload('quay.png', 'a picture'),
    );
    await host.idle();
    const found = ['quay.png', 'tides.pdf', 'quay.docx', 'words.txt'].map((name) => host.files.get(name));
    expect(found).toMatchObject([
      { state: 'ready', skipped: [expect.stringMatching(/^the picture: /)] },
      { state: 'ready', read: '1 page', skipped: [] },
      { state: 'ready', read: '2 words', skipped: ['1 picture: only text is read'] },
      { state: 'ready', read: '3 words', skipped: [] },
    ]);
    const picture = valueOf(await host.control.content('quay.png'));
    expect([picture.type, await picture.text()]).toEqual(['image/png', 'a picture']);
    expect(valueOf(await host.control.parts({ file: 'quay.png', from: 0, count: 20 })).parts).toEqual([]);
  }, 30_000);

  it('indexes text, Markdown, HTML, JSON and CSV, and reports its progress', async () => {
    const { add, idle, find, files, emitted } = await openHost();
    const report = await add(
      upload('notes.txt', longText(120)),
      upload('guide.md', '# Harbour\n\nAll ships.\n\n## Berths\n\nBerth seven is for pilots.\n'),
      upload('page.html', '<title>Tides</title><p>High water is at noon.</p><script>alert("noon")</script>'),
      upload('crew.json', '[{"name":"Mia","task":"splices ropes"}]'),
      upload('stores.csv', 'item,place\nlantern,locker nine\n'),
      upload('letter', 'A letter without an ending about barnacles', 'text/plain'),
    );
    expect(report).toMatchObject({ added: 6, refused: 0 });
    await idle();
    expect([...files.values()].map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'ready'));
    const steps = emitted.filter(({ name, state }) => name === 'notes.txt' && state === 'indexing').map(({ done }) =>
      done
    );
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps.length).toBeGreaterThan(2);
    const [found] = await find('pilots berth seven');
    expect(found).toMatchObject({ file: 'guide.md', title: 'Harbour › Berths', kind: 'document' });
    expect(found?.ranges.map(([from, to]) => found.content.slice(from, to).toLowerCase())).toEqual(
      expect.arrayContaining(['berth', 'seven', 'pilots']),
    );
    expect((await find('noon'))[0]).toMatchObject({ file: 'page.html' });
    expect((await find('lantern'))[0]).toMatchObject({ file: 'stores.csv' });
    expect((await find('splices'))[0]).toMatchObject({ file: 'crew.json' });
    expect((await find('barnacles'))[0]).toMatchObject({ file: 'letter' });
  });

  it('finds symbols and text in code, of a folder or an archive, and leaves out what is neither', async () => {
    const { add, idle, find, files, control } = await openHost();
    const report = await add(
      upload('boat/src/hull.ts', 'export function caulkSeams(hull) {\n  return hull;\n}\n'),
      upload('boat/logo.png', new Uint8Array([137, 80, 78, 71, 0, 0])),
      upload(
        'rigging.zip',
        await zipOf({ 'rigging-1/mast.py': 'def raise_mast(height):\n    return height\n', 'rigging-1/a.bin': '\0' }),
      ),
    );
    expect(report).toMatchObject({ added: 2, leftOut: 2, refused: 0 });
    await idle();
    expect([...files.keys()].toSorted()).toEqual(['boat/src/hull.ts', 'rigging/mast.py']);
    expect((await find('caulkSeams'))[0]).toMatchObject({
      file: 'boat/src/hull.ts',
      kind: 'code',
      foundBy: [{ way: 'code' }],
    });
    expect((await find('/raise_\\w+/'))[0]).toMatchObject({ file: 'rigging/mast.py' });
    expect(await find('raise_mast', ['boat/src/hull.ts'])).toEqual([]);
    const page = valueOf(await control.parts({ file: 'rigging/mast.py', from: 0, count: 10 }));
    expect(page.parts[0]?.text).toContain('def raise_mast');
    await control.remove(['rigging/mast.py']);
    expect(await find('raise_mast')).toEqual([]);
  });

  it('lists what it cannot read with the reason, and goes on with the others', async () => {
    const { add, idle, files, state } = await openHost();
    const report = await add(
      upload('photo.heic', new Uint8Array([137, 80, 78, 71])),
      upload('broken.json', '{"a":'),
      upload('empty.txt', ''),
      upload('blank.txt', ' \n \n'),
      upload('noise.txt', new Uint8Array([1, 0, 2, 0, 3])),
      upload('bad.zip', 'no archive'),
      upload('good.txt', 'All is well'),
    );
    expect(report).toMatchObject({ added: 4, refused: 3 });
    await idle();
    expect(state('good.txt')).toBe('ready');
    const reasons = Object.fromEntries([...files.values()].map(({ name, error }) => [name, error?.message]));
    expect(reasons).toMatchObject({
      'photo.heic': expect.stringContaining('Cannot read a file of this type'),
      'broken.json': expect.stringContaining('Cannot'),
      'empty.txt': 'Cannot read the file: it is empty',
      'blank.txt': 'Cannot read the file: there is no text in it',
      'noise.txt': 'Cannot read the file: it is not text',
      'bad.zip': 'Cannot read the archive: it is no ZIP archive',
    });
  });

  it('reports what is stored already, under this name or another, and replaces a changed file', async () => {
    const { add, idle, find } = await openHost();
    await add(upload('a.txt', 'The lighthouse is closed'));
    await idle();
    expect(await add(upload('a.txt', 'The lighthouse is closed'))).toMatchObject({ unchanged: 1, added: 0 });
    expect(await add(upload('b.txt', 'The lighthouse is closed'))).toMatchObject({
      added: 0,
      copies: [{ name: 'b.txt', of: 'a.txt' }],
    });
    expect(await add(upload('a.txt', 'The harbour is open'))).toMatchObject({ replaced: 1 });
    await idle();
    expect(await find('lighthouse closed')).toEqual([]);
    expect((await find('harbour'))[0]).toMatchObject({ file: 'a.txt' });
  });

  it('stops a file, keeps what was indexed, and goes on where it was', async () => {
    const { add, control, state, files, find, idle } = await openHost();
    await add(upload('long.txt', longText(2_000)));
    await vi.waitFor(() => expect(files.get('long.txt')?.done).toBeGreaterThan(0));
    await control.stop('long.txt');
    expect(state('long.txt')).toBe('stopped');
    const { done = 0, total = 0 } = files.get('long.txt') ?? {};
    expect(done).toBeLessThan(total);
    expect((await find('subject0'))[0]).toMatchObject({ file: 'long.txt' });
    await control.resume('long.txt');
    await idle();
    expect(files.get('long.txt')).toMatchObject({ state: 'ready', done: total });
    expect((await find('subject1999'))[0]).toMatchObject({ file: 'long.txt' });
  });

  it('goes on after a reload with what was not yet indexed', async () => {
    const storage = memoryStorage();
    const closed = await openHost(storage, () => new Promise(() => undefined)); // a tab that never comes to it
    await closed.add(upload('a.txt', 'The lighthouse is closed'), upload('b.ts', 'export const beam = 1;\n'));
    const { idle, find, files } = await openHost(storage);
    await idle();
    expect([...files.values()].map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect((await find('lighthouse'))[0]).toMatchObject({ file: 'a.txt' });
    expect((await find('beam'))[0]).toMatchObject({ file: 'b.ts' });
  });

  it('shows in one tab what happens in the other, and what is stopped there stops here', async () => {
    const storage = memoryStorage();
    const [here, there] = [await openHost(storage), await openHost(storage, () => new Promise(() => undefined))];
    await here.add(upload('long.txt', longText(2_000)), upload('short.txt', 'The lighthouse'));
    await vi.waitFor(() => expect(there.files.get('long.txt')?.done).toBeGreaterThan(0));
    await there.control.stop('long.txt');
    await here.idle();
    await vi.waitFor(() => expect(there.state('short.txt')).toBe('ready'));
    expect(here.state('long.txt')).toBe('stopped');
    expect((await there.find('lighthouse'))[0]).toMatchObject({ file: 'short.txt' });
    await there.control.remove(['short.txt']);
    await vi.waitFor(() => expect(here.state('short.txt')).toBeUndefined());
  });

  it('removes a file while it is indexed, and leaves nothing of it behind', async () => {
    const storage = memoryStorage();
    const { add, control, files, find } = await openHost(storage);
    await add(upload('long.txt', longText(2_000)));
    await vi.waitFor(() => expect(files.get('long.txt')?.done).toBeGreaterThan(0));
    expect(await control.remove(['long.txt'])).toMatchObject({ ok: true });
    expect(files.size).toBe(0);
    expect(await find('subject0')).toEqual([]);
    expect(await storage.list({ prefix: ['knowledge', 'content'], limit: 1 })).toEqual([]);
    await add(upload('long.txt', longText(3)));
    await vi.waitFor(() => expect(files.get('long.txt')?.state).toBe('ready'));
    expect((await find('subject0'))[0]).toMatchObject({ file: 'long.txt' });
  });

  it('gives the parts of a file in their order, some at a time', async () => {
    const { add, idle, control } = await openHost();
    await add(upload('long.txt', longText(120)));
    await idle();
    const page = valueOf(await control.parts({ file: 'long.txt', from: 40, count: 20 }));
    expect(page.parts.map(({ piece }) => piece)).toEqual(Array.from({ length: 20 }, (_, at) => 40 + at));
    expect(page.total).toBe(page.file.total);
    expect(await control.parts({ file: 'no such file', from: 0, count: 5 })).toMatchObject({
      ok: false,
      error: { code: 'not_found', message: 'Cannot open "no such file": it was removed' },
    });
  });

  it('lets a newer search end the one before', async () => {
    const { add, idle, control } = await openHost();
    await add(upload('long.txt', longText(50)));
    await idle();
    const query = { files: [], limit: 5 };
    const [older, newer] = await Promise.all([
      control.search({ ...query, text: 'subject1' }),
      control.search({ ...query, text: 'subject2' }),
    ]);
    expect(older).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(newer).toMatchObject({ ok: true });
  });

  it('adds the guide, which answers questions about Pinnace', async () => {
    const { control, idle, find } = await openHost();
    expect(valueOf(await control.addGuide()).added).toBeGreaterThan(4);
    await idle();
    expect((await find('idempotency key'))[0]).toMatchObject({ file: 'Pinnace guide/Runs and retries.md' });
    expect((await find('what is an approval bound to'))[0]).toMatchObject({ file: 'Pinnace guide/Approvals.md' });
  });

  it('starts with the guide when an agent searches before anything was added, and never after that', async () => {
    const storage = memoryStorage();
    const { grounding, control, files } = await openHost(storage);
    const ask = (of = grounding) =>
      of.retrieve({ dataSourceIds: ['knowledge', 'knowledge-likeness'], query: 'approval' });
    expect((await ask()).hits[0]).toMatchObject({ source: { uri: 'Pinnace guide/Approvals.md' } });
    expect(files.size).toBeGreaterThan(4);
    await control.remove([...files.keys()]);
    expect((await ask()).hits).toEqual([]);
    const later = await openHost(storage);
    expect((await ask(later.grounding)).hits).toEqual([]);
    const own = await openHost();
    await own.add(upload('a.txt', 'The approval of the harbour'));
    await own.idle();
    expect((await ask(own.grounding)).hits.map(({ source }) => source.uri)).toEqual(['a.txt']);
  });

  it('reports a full storage, and stores what fits', async () => {
    const storage = memoryStorage({ maxEntries: 40 });
    const { add, idle, control, files } = await openHost(storage);
    await add(upload('a.txt', 'The lighthouse is closed'));
    await idle();
    const many = Array.from({ length: 60 }, (_, at) => upload(`${at}.txt`, `Number ${at}`));
    expect(await control.add(many)).toMatchObject({ ok: false, error: { details: { reason: 'storage_full' } } });
    await vi.waitFor(() => expect(files.get('a.txt')?.state).toBe('ready'));
    expect(files.size).toBeLessThan(60);
  });

  it('works in memory where the browser gives no storage, and says so', async () => {
    const blocked = () =>
      Promise.reject(new PinnaceError('unavailable', 'No storage', { details: { reason: 'storage_blocked' } }));
    const { add, idle, find, isStored } = await openHost({ get: blocked, list: blocked, commit: blocked });
    expect(isStored).toBe(false);
    await add(upload('a.txt', 'The lighthouse is closed'));
    await idle();
    expect((await find('lighthouse'))[0]).toMatchObject({ file: 'a.txt' });
  });
});
