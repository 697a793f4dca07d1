import { describe, expect, it } from 'vitest';
import { officeText } from '../../../adapters/grounding/office-text.ts';
import { dateText } from '../../../adapters/grounding/office/workbook.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding, ingest } from '../../../src/grounding/index.ts';
import { zipOf } from '../../fixtures/code.ts';

type Parts = Readonly<Record<string, string>>;

async function textOf(parts: Parts): Promise<string> {
  return await officeText(await zipOf(parts));
}

async function word(body: string, more: Parts = {}): Promise<string> {
  return await textOf({ 'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>`, ...more });
}

const p = (text: string, style = '') =>
  `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;

function workbook(rows: string, more: Parts = {}, properties = ''): Promise<string> {
  return textOf({
    'xl/workbook.xml': `<workbook>${properties}<sheets><sheet name="S" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></R>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...more,
  });
}

function sheetOf(rows: string, more: Parts = {}): Record<string, string> {
  return {
    'xl/workbook.xml': '<workbook><sheets><sheet name="Tides" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></R>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...more,
  };
}

const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relation = (type: string, target: string, id = 'r1') =>
  `<Relationships><Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/></Relationships>`;

describe('officeText', () => {
  const alternative = (a: string, b: string) =>
    `<mc:AlternateContent><mc:Choice>${a}</mc:Choice><mc:Fallback>${b}</mc:Fallback></mc:AlternateContent>`;
  const framed = (cap: string, text: string) =>
    p(text).replace('<w:p>', `<w:p><w:pPr><w:framePr w:dropCap="${cap}"/></w:pPr>`);
  const shape = '<p:sp><a:p><a:r><a:t>Once</a:t></a:r></a:p></p:sp>';

  it.each<[string, Parts, string]>([
    ['a large first letter with its word', {
      'word/document.xml': `<w:document>${framed('drop', 'O')}${p('nce')}${framed('none', 'A')}${p('b')}</w:document>`,
    }, 'Once\n\nA\n\nb'],
    ['characters that XML does not allow as none', {
      'word/document.xml': `<w:document>${p('On&#x1;c\u000be&#11;')}</w:document>`,
    }, 'Once'],
    ['what is there for other programs as well once', {
      'ppt/presentation.xml': '<p><p:sldId r:id="r1"/></p>',
      'ppt/_rels/presentation.xml.rels': relation('slide', 'slides/s.xml'),
      'ppt/slides/s.xml': `<s>${alternative(shape, shape)}</s>`,
    }, '## Slide 1\n\nOnce'],
  ])('reads %s', async (_, parts, expected) => {
    expect(await textOf(parts)).toBe(expected);
  });
});

describe('officeText of packages', () => {
  it('finds the main part by its relationship and its content type, wherever it is', async () => {
    const types = (path: string, kind: string) =>
      `<Types><Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${kind}+xml"/></Types>`;
    const document = `<w:document><w:body>${p('Elsewhere')}</w:body></w:document>`;
    for (const path of ['word/document9.xml', 'content/Main.xml']) {
      expect(
        await textOf({
          '_rels/.rels': relation('officeDocument', path),
          '[Content_Types].xml': types(path.toUpperCase(), 'wordprocessingml.document.main'),
          [path.toLowerCase()]: document,
        }),
      ).toBe('Elsewhere');
    }
    await expect(textOf({
      '_rels/.rels': relation('officeDocument', 'xl/workbook.bin'),
      '[Content_Types].xml':
        '<Types><Override PartName="/xl/workbook.bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
      'xl/workbook.bin': 'x',
    })).rejects.toThrow('save it as .xlsx');
  });

  it('knows namespaces, whatever the document calls them', async () => {
    const strict = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
    for (const [prefix, uri] of [['relations', relationships], ['q', strict], ['w', relationships]]) {
      const parts = sheetOf('<row><c><v>7</v></c></row>');
      parts['xl/workbook.xml'] =
        `<workbook xmlns:${prefix}="${uri}" xmlns:r="urn:other"><sheets><sheet name="N" r:id="no" ${prefix}:id="r1"/></sheets></workbook>`;
      expect(await textOf(parts)).toBe('## N\n\n| 7 |');
    }
    const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const heading = `<ns0:p><ns0:pPr><ns0:pStyle ns0:val="H"/></ns0:pPr><ns0:r><ns0:t>Top</ns0:t></ns0:r></ns0:p>`;
    expect(
      await textOf({
        'word/document.xml': `<ns0:document xmlns:ns0="${main}">${heading}</ns0:document>`,
        'word/styles.xml':
          `<k:styles xmlns:k="${main}"><k:style k:styleId="H"><k:name k:val="heading 3"/></k:style></k:styles>`,
      }),
    ).toBe('### Top');
  });

  it('reads documents within a document where they stand, and diagrams', async () => {
    const chunk = async (path: string, content: string) =>
      await textOf({
        'word/document.xml': `<w:document><w:body>${p('before')}<w:altChunk r:id="c1"/>${
          p('after')
        }</w:body></w:document>`,
        'word/_rels/document.xml.rels': relation('aFChunk', path, 'c1'),
        [`word/${path}`]: content,
      });
    const html = '<html><head><title>T<body><p>Caf&eacute;<table><tr><td>a<td>b</table>';
    expect(await chunk('part.htm', html.replace('<title>T', ''))).toBe('before\n\nCafé\n\n| a | b |\n\nafter');
    const mime = (encoding: string, body: string) =>
      `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset="utf-8"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n--b--`;
    expect(await chunk('p.mht', mime('quoted-printable', '<p>Gr=C3=B6=\r\n=C3=9Fe</p>'))).toContain(
      'before\n\nGröße\n\nafter',
    );
    expect(await chunk('p.mht', mime('base64', btoa('<p>Berth</p>')))).toContain('Berth');
    expect(await chunk('p.txt', 'plain')).toBe('before\n\nplain\n\nafter');
    await expect(chunk('p.rtf', '{\\rtf1}')).rejects.toMatchObject({ details: { reason: 'unsupported_type' } });
    const point = (text: string) => `<dgm:pt><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const slide = await textOf({
      'ppt/presentation.xml': '<p><p:sldId r:id="r1"/></p>',
      'ppt/_rels/presentation.xml.rels': relation('slide', 'slides/s.xml'),
      'ppt/slides/s.xml': '<s/>',
      'ppt/slides/_rels/s.xml.rels': relation('diagramData', '../diagrams/d.xml'),
      'ppt/diagrams/d.xml': `<dgm:ptLst>${point('Load')}${point('Sail')}</dgm:ptLst>`,
    });
    expect(slide).toBe('## Slide 1\n\nLoad\n\nSail');
  });
});

describe('officeText of workbooks that other programs write', () => {
  const inline = (text: string) => `<row><c t="inlineStr"><is>${text}</is></c></row>`;

  it.each([
    ['characters that XML cannot hold', '<t>Pier_x000D_seven</t>', 'Pier seven'],
    ['escapes of escapes', '<t>pier_x005F_x0037_</t>', 'pier_x0037_'],
    ['names that only look so', '<t>pier_x12_</t>', 'pier_x12_'],
    ['words with how they are spoken', '<t>港</t><rPh sb="0" eb="1"><t>ミナト</t></rPh>', '港'],
  ])('reads %s', async (_, cell, expected) => {
    expect(await workbook(inline('<t>Place</t>') + inline(cell))).toContain(expected);
    expect(await workbook(inline('<t>Place</t>') + inline(cell))).not.toMatch(/ミナト|_x000D_/);
  });
});

describe('officeText of Word documents', () => {
  it('knows headings by their style, whatever the language of the program calls it', async () => {
    const styles = `<w:styles><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
      <w:style w:styleId="Own"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
      <w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>`;
    const text = await word(p('A', 'Titel') + p('B', 'berschrift2') + p('C', 'Own') + p('D', 'Standard'), {
      'word/styles.xml': styles,
    });
    expect(text).toBe('# A\n\n## B\n\n### C\n\nD');
  });

  it('leaves out what tracked changes have removed, codes of fields, and what is there a second time', async () => {
    const text = await word(
      '<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>removed</w:delText></w:r></w:del>' +
        '<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r>' +
        '<mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice>' +
        '<mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>',
    );
    expect(text).toBe('kept once');
  });

  it.each([
    [
      'a paragraph whose end was deleted with the next one',
      '<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:r><w:t>Ha</w:t></w:r></w:p>' + p('rbor'),
      'Harbor',
    ],
    [
      'no hidden text',
      `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>seen</w:t></w:r></w:p>`,
      'seen',
    ],
    [
      'a heading by the level of its paragraph',
      `<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Quay</w:t></w:r></w:p>`,
      '## Quay',
    ],
    [
      'a paragraph whose level is that of text',
      `<w:p><w:pPr><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>Quay</w:t></w:r></w:p>`,
      'Quay',
    ],
  ])('reads %s', async (_, body, text) => {
    expect(await word(body)).toBe(text);
  });

  it('reads the rows of a sheet without the empty cells behind them, and without gaps of a thousand', async () => {
    const cell = (at: string, text = '') => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
    const labeled = await workbook(
      `<row>${cell('A1', 'Name')}${cell('B1', 'Berth')}${cell('C1')}</row><row>${cell('A2', 'Ada')}${cell('C2')}</row>`,
    );
    expect(labeled).toContain('- Name: Ada');
    const far = await workbook(`<row>${cell('A1', 'near')}</row><row>${cell('A2', 'a')}${cell('XFD2', 'far')}</row>`);
    expect(far).toMatch(/\| a \|[ |]{1,120}\| far \|/);
  });

  it('reads what a picture shows', async () => {
    expect(await word('<w:p><w:r><w:drawing><wp:docPr descr="A red boat"/></w:drawing></w:r></w:p>')).toBe(
      'A red boat',
    );
  });

  it('reads footnotes, breaks, tabs, text boxes, and a table within a cell', async () => {
    const table = `<w:tbl><w:tr><w:tc>${p('a')}<w:tbl><w:tr><w:tc>${p('b')}</w:tc></w:tr></w:tbl></w:tc><w:tc>${
      p('c')
    }</w:tc></w:tr></w:tbl>`;
    const box = `<w:p><w:r><w:t>outer</w:t></w:r><w:txbxContent>${p('inner')}</w:txbxContent></w:p>`;
    const breaks = '<w:p><w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r></w:p>';
    const text = await word(table + box + breaks, {
      'word/footnotes.xml': `<w:footnotes><w:footnote>${p('note')}</w:footnote></w:footnotes>`,
    });
    expect(text).toBe('| a b | c |\n\ninner\n\nouter\n\none\ntwo\tthree\n\nnote');
  });
});

describe('officeText of workbooks', () => {
  it('counts days as the workbook does', () => {
    expect(dateText(1, false)).toBe('1900-01-01');
    expect(dateText(61, false)).toBe('1900-03-01');
    expect(dateText(0, true)).toBe('00:00');
    expect(dateText(1, true)).toBe('1904-01-02');
    expect(dateText(0.75, false)).toBe('18:00');
    expect(dateText(-1, false)).toBeUndefined();
    expect(dateText(1e9, false)).toBeUndefined();
  });

  it('shows durations as such, beyond a day too', async () => {
    const styles =
      '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[hh]:mm"/></numFmts><cellXfs><xf numFmtId="46"/><xf numFmtId="170"/></cellXfs></styleSheet>';
    const cell = (column: string, style: number, days: number) => `<c r="${column}1" s="${style}"><v>${days}</v></c>`;
    const row = `<row>${cell('A', 0, 2.25)}${cell('B', 1, 1.0001)}${cell('C', 1, -0.5)}</row>`;
    expect(await workbook(row, { 'xl/styles.xml': styles })).toBe('## S\n\n| 54:00 | 24:00:09 | -12:00 |');
  });

  it('shows parts of a hundred and the digits of codes', async () => {
    const styles =
      '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="00000"/><numFmt numFmtId="171" formatCode="0.0%"/></numFmts><cellXfs><xf/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="9"/></cellXfs></styleSheet>';
    const cells = [[1, '123'], [1, '1234567'], [1, '1.5'], [2, '0.125'], [3, '0.07'], [0, '0.5']]
      .map(([style, value]) => `<c s="${style}"><v>${value}</v></c>`);
    expect(await workbook(`<row>${cells.join('')}</row>`, { 'xl/styles.xml': styles })).toBe(
      '## S\n\n| 00123 | 1234567 | 1.5 | 12.5% | 7% | 0.5 |',
    );
  });

  it('has no column for a reference beyond the last, and no text for one that is not there', async () => {
    const row = '<row><c r="ZZZ1"><v>1</v></c><c r="B1" t="s"><v>99</v></c><c r="C1"><v>2</v></c></row>';
    expect(await workbook(row, { 'xl/sharedStrings.xml': '<sst><si><t>a</t></si></sst>' })).toBe(
      '## S\n\n| 1 |  | 2 |',
    );
    await expect(workbook(row)).rejects.toThrow('texts that are not in it');
  });
});

describe('officeText of OpenDocument files', () => {
  const content = (body: string) => textOf({ 'content.xml': `<office:body>${body}</office:body>` });

  it('reads spaces, lists and comments as a person sees them', async () => {
    const text = await content(
      '<office:text><text:tracked-changes><text:p>removed</text:p></text:tracked-changes>' +
        '<text:p>a<text:s/>b<office:annotation><text:p>comment</text:p></office:annotation></text:p>' +
        '<text:list><text:list-item><text:p>c</text:p></text:list-item></text:list></office:text>',
    );
    expect(text).toBe('a b\n\n- c');
  });

  it('writes a row that repeats a million times a hundred times, and no empty ones', async () => {
    const row = (repeats: number, cell: string) =>
      `<table:table-row table:number-rows-repeated="${repeats}"><table:table-cell table:number-columns-repeated="16384">${cell}</table:table-cell></table:table-row>`;
    const text = await content(
      `<office:spreadsheet><table:table table:name="T">${row(1_048_576, '')}${
        row(1_048_576, '<text:p>x</text:p>')
      }</table:table></office:spreadsheet>`,
    );
    expect(text.split('\n').filter((line) => line.includes('x'))).toHaveLength(100);
  });
});

describe('officeText of other files', () => {
  it('reads an archive with something behind its end, and no reading beside a word', async () => {
    const ruby = '<w:r><w:ruby><w:rt><w:r><w:t>みなと</w:t></w:r></w:rt><w:rubyBase>';
    const body = `<w:p>${ruby}<w:r><w:t>港</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>の船</w:t></w:r></w:p>`;
    const file = await zipOf({ 'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>` });
    expect(await officeText(Uint8Array.from([...file, ...new Uint8Array(900)]))).toBe('港の船');
  });

  it('says what to do about encrypted and older files', async () => {
    const old = Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...Array(600).fill(0)]);
    await expect(officeText(old)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('save it as .docx'),
      details: { reason: 'unsupported_type' },
    });
  });

  it.each([
    ['text', new TextEncoder().encode('hello'), 'invalid_archive'],
    ['nothing', new Uint8Array(), 'invalid_archive'],
  ])('rejects %s', async (_, bytes, reason) => {
    await expect(officeText(bytes)).rejects.toMatchObject({ code: 'invalid_argument', details: { reason } });
  });

  it('rejects another archive, and XML that is damaged', async () => {
    await expect(textOf({ 'a.txt': 'a' })).rejects.toMatchObject({ details: { reason: 'unsupported_type' } });
    await expect(textOf({ 'word/document.xml': '<w:p>' })).rejects.toMatchObject({
      details: { reason: 'invalid_document' },
    });
  });

  it('expands no entity and loads nothing', async () => {
    const bomb = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>';
    for (const entity of ['&b;', '&c;']) {
      const document = `${bomb}<w:document>${p(entity)}</w:document>`;
      await expect(textOf({ 'word/document.xml': document })).rejects.toMatchObject({
        details: { reason: 'invalid_document' },
      });
    }
  });

  it('reads 100,000 elements within each other, and no more than the limit of all parts', async () => {
    const depth = 100_000;
    const deep = `${'<a>'.repeat(depth)}${p('deep')}${'</a>'.repeat(depth)}`;
    expect(await word(deep)).toBe('deep');
    const parts = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`ppt/slides/slide${i}.xml`, `<s>${' '.repeat(14_000_000)}</s>`]),
    );
    const relations = Object.keys(parts).map((path, i) => `<Relationship Id="r${i}" Target="/${path}" Type="slide"/>`);
    await expect(textOf({
      'ppt/presentation.xml': `<p>${relations.map((_, i) => `<p:sldId r:id="r${i}"/>`).join('')}</p>`,
      'ppt/_rels/presentation.xml.rels': `<R>${relations.join('')}</R>`,
      ...parts,
    })).rejects.toMatchObject({ details: { reason: 'invalid_document' } });
  });

  it('never leaves the archive for a target of a relationship', async () => {
    const parts = (target: string) => ({
      'ppt/presentation.xml': '<p><p:sldId r:id="r1"/></p>',
      'ppt/_rels/presentation.xml.rels': `<R><Relationship Id="r1" Target="${target}" Type="slide"/></R>`,
    });
    for (const target of ['../../../etc/passwd', 'https://example.com/x', 'file:///etc/passwd', '%']) {
      expect(await textOf(parts(target))).toBe('## Slide 1');
    }
    expect(await textOf(parts('//['))).toBe('');
  });

  it.each<[string, Parts]>([
    ['cells that repeat', {
      'content.xml': `<office:body><office:spreadsheet><table:table table:name="Tides">${
        `<table:table-row table:number-rows-repeated="90"><table:table-cell table:number-columns-repeated="90"><text:p>${
          'x'.repeat(15_000)
        }</text:p></table:table-cell></table:table-row>`.repeat(9)
      }</table:table></office:spreadsheet></office:body>`,
    }],
    [
      'one text in many cells',
      sheetOf('<row><c t="s"><v>0</v></c></row>'.repeat(20_000), {
        'xl/sharedStrings.xml': `<sst><si><t>${'y'.repeat(90_000)}</t></si></sst>`,
      }),
    ],
    [
      'a long name of a column in every row',
      sheetOf(
        `<row><c t="inlineStr"><is><t>${'h'.repeat(50_000)}</t></is></c><c><v>1</v></c></row>` +
          '<row><c><v>1</v></c><c><v>2</v></c></row>'.repeat(20_000),
      ),
    ],
    ['a cell in the last column of every row', sheetOf('<row><c r="XFD1"><v>1</v></c></row>'.repeat(9_000))],
  ])('names the sheet whose text is too long by %s', async (_, parts) => {
    await expect(textOf(parts)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'text_too_long', part: 'the sheet "Tides"' },
    });
  });

  it('stops with the signal', async () => {
    const file = await zipOf({ 'word/document.xml': `<w:document>${p('x').repeat(1000)}</w:document>` });
    await expect(officeText(file, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('is asked for where the bytes of a file are given as text', async () => {
    const storage = memoryStorage();
    const grounding = createGrounding({ sources: [textSource({ id: 'docs', storage })] });
    const files = [{ name: 'a.docx', text: () => 'PK\u0003\u0004' }];
    const { files: [report] } = await ingest(grounding, { dataSourceId: 'docs', files, storage });
    expect(report?.error?.message).toContain('fileText');
  });
});
