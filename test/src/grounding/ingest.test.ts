import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding } from '../../../src/index.ts';
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

  it('continues where it was stopped, and does nothing twice', async () => {
    const { run, size } = setUp();
    const abort = new AbortController();
    const file = fileOf('big.txt', longText(120));
    const stopped = run([file], { signal: abort.signal, onProgress: ({ done }) => done === 50 && abort.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
    expect(await size()).toBe(50);
    expect(await run([file])).toMatchObject({ written: 70, files: [{ state: 'done' }] });
    expect(await size()).toBe(120);
    expect(await run([file])).toMatchObject({ written: 0, files: [{ state: 'unchanged', done: 120 }] });
  });

  it('puts what has changed in the place of what was there', async () => {
    const { run, find, size } = setUp();
    await run([fileOf('a.txt', longText(60))]);
    expect(await find('subject59')).toBeDefined();
    await run([fileOf('a.txt', longText(10))]);
    expect(await size()).toBe(10);
    expect((await find('subject59'))?.content ?? '').not.toContain('subject59');
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
