import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding, PinnaceError } from '../../../src/index.ts';
import {
  forgetFile,
  type GroundingHit,
  ingest,
  type IngestFile,
  type IngestProgress,
} from '../../../src/grounding/index.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

function setUp() {
  const storage = memoryStorage();
  const source = textSource({ id: 'docs', storage });
  const grounding = createGrounding({ sources: [source] });
  const run = (
    files: readonly IngestFile[],
    options: { signal?: AbortSignal; onProgress?: (progress: IngestProgress) => void } = {},
  ) =>
    ingest(grounding, {
      dataSourceId: 'docs',
      files,
      storage,
      pieceLength: 300,
      ...(options.onProgress && { onProgress: options.onProgress }),
    }, { signal: options.signal });
  const find = async (query: string): Promise<GroundingHit | undefined> =>
    (await grounding.retrieve({ dataSourceId: 'docs', query, topK: 1 })).hits[0];
  const size = async () => (await source.stats('local', neverAborted())).items;
  return { run, find, size, grounding, storage };
}

const fileOf = (name: string, text: string): IngestFile => ({ name, text: () => text });
const longText = (count: number): string =>
  Array.from({ length: count }, (_, at) => `Paragraph ${at} speaks of subject${at}. ${'words '.repeat(30)}`).join(
    '\n\n',
  );

describe('ingest', () => {
  it('reads text, Markdown, HTML, JSON and CSV, and returns the position of each piece', async () => {
    const { run, find } = setUp();
    const { files } = await run([
      fileOf('notes.txt', 'First line\n\nThe lighthouse is closed.\n'),
      fileOf(
        'guide.md',
        '# Harbour\n\nAll ships.\n\n## Berths\n\n```\n# no heading\n```\n\nBerth seven is for pilots.\n',
      ),
      fileOf(
        'page.html',
        '<html><head><title>Tide &amp; time</title><script>alert("evil")</script></head><body><h1>Tides</h1><p title="a>b">High water at <b>noon</b> &#x2013; mostly</p><!-- hidden --></body></html>',
      ),
      fileOf('list.json', '[{"name": "Kiel", "depth": 12, "open": true}, {"name": "Lübeck", "depth": 9}]'),
      fileOf('table.csv', 'port,crane\nHamburg,yellow\nBremen,green\n'),
    ]);
    expect(files.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'done']);
    expect(await find('lighthouse')).toMatchObject({ source: { uri: 'notes.txt', lines: [1, 3] } });
    expect(await find('pilots')).toMatchObject({
      title: 'Harbour › Berths',
      source: { uri: 'guide.md', lines: [5, 11] },
    });
    expect(await find('noon')).toMatchObject({
      title: 'Tide & time',
      content: expect.stringContaining('High water at noon – mostly'),
    });
    expect(await find('evil hidden')).toBeUndefined();
    expect(await find('Lübeck')).toMatchObject({ metadata: { name: 'Lübeck', depth: 9, file: 'list.json' } });
    expect(await find('Bremen')).toMatchObject({ content: 'port: Bremen\ncrane: green', metadata: { crane: 'green' } });
  });

  it('takes a line above marks for a heading, where it is a paragraph of its own', async () => {
    const { run, find } = setUp();
    await run([fileOf(
      'log.md',
      '---\nkind: log\n---\n\nVoyage\n======\n\nSails.\n\nWeather\n---\n\nA squall.\n\nTwo lines\nof text\n---\n\n- rope\n---\n\n' +
        '~~~\nnot one\n===\n~~~\n\n### Crew\n\nNine sailors.\n',
    )]);
    expect(await find('squall')).toMatchObject({ title: 'Voyage › Weather', source: { lines: [10, 25] } });
    expect(await find('sailors')).toMatchObject({ title: 'Voyage › Weather › Crew' });
    expect(await find('rope')).toMatchObject({ title: 'Voyage › Weather' });
  });

  it.each(['a.yaml', 'a.XML', 'a.toml', 'a.rst', 'a.mdx', 'a.srt'])('reads a text by its ending: %s', async (name) => {
    const { run, find } = setUp();
    await run([fileOf(name, 'harbour: closed')]);
    expect(await find('harbour')).toMatchObject({ content: 'harbour: closed' });
  });

  it('reports progress, and why it cannot read a file, and continues with the others', async () => {
    const { run, find } = setUp();
    const told: IngestProgress[] = [];
    const { files, written } = await run([
      fileOf('big.txt', longText(120)),
      fileOf('movie.mp4', 'x'),
      fileOf('bad.json', '{'),
      { name: 'gone.txt', text: () => Promise.reject(new Error('secret path')) },
      fileOf('last.txt', 'The very last'),
    ], { onProgress: (progress) => told.push(progress) });
    expect(files.map(({ state, error }) => [state, error?.code])).toEqual([
      ['done', undefined],
      ['failed', 'invalid_argument'],
      ['failed', 'invalid_argument'],
      ['failed', 'internal'],
      ['done', undefined],
    ]);
    expect(JSON.stringify(files)).not.toContain('secret');
    const big = told.filter(({ file }) => file === 'big.txt');
    expect(big.map(({ state }) => state)).toEqual(['reading', 'writing', 'writing', 'writing', 'done']);
    expect(big.map(({ done }) => done)).toEqual([0, 0, 50, 100, 120]);
    expect(written).toBe(121);
    expect(await find('very last')).toBeDefined();
  });

  it('keeps pieces near their length, whole lines where it can, and no half of a character', async () => {
    const { run, grounding } = setUp();
    await run([fileOf('line.txt', '😀'.repeat(1_000)), fileOf('lines.txt', 'A sentence here. '.repeat(100))]);
    const { hits } = await grounding.retrieve({
      dataSourceId: 'docs',
      topK: 100,
      filters: [{ field: 'file', op: 'exists' }],
    });
    expect(hits.length).toBeGreaterThan(10);
    for (const { content } of hits) {
      expect(content.length).toBeLessThanOrEqual(301);
      expect(content.isWellFormed()).toBe(true);
    }
  });
});

describe('ingest of what the world sends', () => {
  const filtered = async (
    grounding: ReturnType<typeof setUp>['grounding'],
    field: string,
    op: 'eq' | 'lt',
    value: unknown,
  ) => {
    const filters = [{ field, op, value: value as string }];
    return (await grounding.retrieve({ dataSourceId: 'docs', topK: 50, filters })).hits.map(({ content }) => content);
  };

  it('keeps values of CSV as they are written, and filters every column of them', async () => {
    const { run, grounding } = setUp();
    const long = `How satisfied were you with ${'the very long way to the '.repeat(12)}`;
    const names = ['id', 'title', 'file', 'piece', 'constructor', `${long}harbor`, `${long}office`];
    const columns = Array.from({ length: 80 }, (_, at) => `c${at}`);
    const row = ['007', '1E5', 'x.txt', '3', 'Lotus', 'good', 'bad', ...columns.map((name) => `v${name}`)];
    const price = ['9.50', '12.00'];
    await run([fileOf(
      'a.csv',
      [
        [...names, ...columns, 'price'],
        [...row, price[0]],
        ['008', ...row.slice(1), price[1]],
      ].map((cells) => cells.join(';')).join('\n'),
    )]);
    for (
      const [field, value] of [['id', '007'], ['price', '9.50'], ['price', 9.5], ['c79', 'vc79'], ['file', 'x.txt']]
    ) {
      expect((await filtered(grounding, String(field), 'eq', value)).join(), String(field)).toContain(
        'id: 007\ntitle: 1E5',
      );
    }
    expect(await filtered(grounding, 'id', 'eq', 7)).toEqual([]);
    expect(await filtered(grounding, 'title', 'eq', 100_000)).toEqual([]);
    expect((await filtered(grounding, 'price', 'lt', 10)).join()).not.toContain('008');
    expect((await filtered(grounding, '$title', 'eq', 'a.csv')).length).toBeGreaterThan(1);
    expect((await filtered(grounding, long.slice(0, 200), 'eq', 'good')).length).toBeGreaterThan(0);
    expect((await filtered(grounding, 'column constructor', 'eq', 'Lotus')).length).toBeGreaterThan(0);
  });

  it('reads lines of JSON, and what is none as text, and compares values without the spaces around them', async () => {
    const { run, find, grounding } = setUp();
    const lines =
      '{"port": "Kiel ", "crane": "green"}\n\n{"port": broken\n{"port": "Kiel", "port": "twice"}\n{"port": "Lübeck"}\n';
    const exported = '{"port": "Tallinn"}\n{"port": "Turku"}\n';
    await run([fileOf('a.jsonl', lines), fileOf('b.ndjson', '{"port": "Riga"}'), fileOf('c.json', exported)]);
    expect(await filtered(grounding, 'port', 'eq', 'Turku')).toHaveLength(1);
    expect(await find('green')).toMatchObject({ metadata: { port: 'Kiel ', crane: 'green' } });
    expect(await filtered(grounding, 'port', 'eq', 'Kiel')).toHaveLength(1);
    for (const word of ['broken', 'twice', 'Lübeck', 'Riga']) expect(await find(word)).toBeDefined();
  });

  it('says what the text of a file must be', async () => {
    const { run } = setUp();
    await expect(run([{ name: 'a.md', text: 'Berth' as never }])).rejects.toThrow('() => text');
  });

  it('keeps numbers of JSON that would lose digits', async () => {
    const { run, find } = setUp();
    await run([fileOf('a.json', '[{"order": 12345678901234567890, "version": 1.10, "weight": 40}]')]);
    const hit = await find('order');
    expect(hit?.content).toBe('order: 12345678901234567890\nversion: 1.10\nweight: 40');
    expect(hit?.metadata).toMatchObject({ order: '12345678901234567890', version: '1.10', weight: 40 });
  });

  it('counts the pieces that a source refuses, and writes the others', async () => {
    const { storage } = setUp();
    const source = textSource({ id: 'docs', storage });
    const remember = source.remember.bind(source);
    source.remember = async (input, signal) => {
      if (input.items.some(({ text }) => text.includes('bad'))) {
        throw new PinnaceError('invalid_argument', 'Cannot keep an item: it is bad');
      }
      return await remember(input, signal);
    };
    const grounding = createGrounding({ sources: [source] });
    const rows = Array.from({ length: 120 }, (_, at) => at % 50 === 7 ? 'bad' : `row${at}`);
    const files = [fileOf('a.csv', `word\n${rows.join('\n')}`), fileOf('b.txt', 'all bad'), fileOf('c.txt', 'fine')];
    const report = await ingest(grounding, { dataSourceId: 'docs', files, storage });
    expect(report.files.map(({ state, refused }) => [state, refused])).toEqual([
      ['done', 3],
      ['failed', 1],
      ['done', undefined],
    ]);
    expect(report.written).toBe(118);
    expect(report.files[0]?.error?.message).toContain('it is bad');
  });

  it('tells long names with the same end apart, and replaces what version 0.2 kept of them', async () => {
    const { run, size, grounding, storage } = setUp();
    const [one, other] = ['https://a.example', 'https://b.example'].map((host) =>
      `${host}/${'deep/'.repeat(500)}page.txt`
    );
    await run([fileOf(one!, 'The first page'), fileOf(other!, 'The second page')]);
    expect(await size()).toBe(2);
    expect(await run([fileOf(one!, 'The first page')])).toMatchObject({ files: [{ state: 'unchanged' }] });
    expect(await forgetFile(grounding, { dataSourceId: 'docs', storage, name: other! })).toBe(1);
    const name = `${'old/'.repeat(60)}page.txt`;
    const metadata = { file: name, piece: 0 };
    await grounding.remember({ dataSourceId: 'docs', items: [{ id: `${name.slice(-200)}#0`, text: 'Old', metadata }] });
    await storage.commit([{
      key: ['ingest', 'local', 'docs', name],
      value: { hash: 'x', done: 1, total: 1, former: 0 },
    }]);
    await run([fileOf(name, 'New')]);
    expect(await size()).toBe(2);
  });
});

describe('forgetFile', () => {
  it('removes all pieces of one file, whatever its records call their fields, and lets it be ingested anew', async () => {
    const { run, find, size, grounding, storage } = setUp();
    const rows = fileOf('rows.csv', 'file,berth\nlog.txt,one\nlog.txt,two\n');
    await run([fileOf('log.txt', longText(10)), rows]);
    const all = await size();
    expect(await forgetFile(grounding, { dataSourceId: 'docs', storage, name: 'log.txt' })).toBe(all - 2);
    expect(await size()).toBe(2);
    expect(await find('subject3')).toBeUndefined();
    expect((await run([fileOf('log.txt', longText(10))])).files).toMatchObject([{ state: 'done' }]);
    expect(await size()).toBe(all);
  });
});
