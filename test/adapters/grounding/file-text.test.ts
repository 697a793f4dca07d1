import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../adapters/grounding/decode-text.ts';
import { fileText } from '../../../adapters/grounding/file-text.ts';
import { readPdf } from '../../../adapters/grounding/pdf-reader.ts';
import { pdfText } from '../../../adapters/grounding/pdf-text.ts';
import { zipOf } from '../../fixtures/code.ts';
import { flate, linesOfPdf, pdfOf } from '../../fixtures/pdf.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A font of a few bytes whose map of characters takes seconds and gigabytes. */
const wideFont =
  '/F2 << /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [<< /Type /Font ' +
  '/Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (A) /Ordering (Identity) /Supplement 0 >> ' +
  `/W [${'0 16000000 500 '.repeat(4)}] >>] >>`;

describe('fileText', () => {
  it('reads a file by its content, whatever its name', async () => {
    expect(await fileText(pdfOf(linesOfPdf('Berth seven')))).toBe('## Page 1\n\nBerth seven');
    const document = '<w:document><w:body><w:p><w:r><w:t>Berth eight</w:t></w:r></w:p></w:body></w:document>';
    expect(await fileText(await zipOf({ 'word/document.xml': document }))).toBe('Berth eight');
    expect(await fileText(bytesOf('Berth nine'))).toBe('Berth nine');
    await expect(fileText(new Uint8Array(2_000))).rejects.toMatchObject({ details: { reason: 'no_text' } });
  });
});

describe('pdfText', () => {
  it('reads pages in their order, and words that are divided at the end of a line', async () => {
    const content = linesOfPdf('The pilot boat is sta-', 'tioned at the breakwater.', '# no heading');
    for (
      const file of [pdfOf(content, { pages: 2 }), pdfOf(await flate(content), { filter: '/FlateDecode', pages: 2 })]
    ) {
      const page = 'The pilot boat is sta\u00adtioned at the breakwater.\n\\# no heading';
      expect(await pdfText(file)).toBe(`## Page 1\n\n${page}\n\n## Page 2\n\n${page}`);
    }
  });

  it.each([
    ['is encrypted', pdfOf(linesOfPdf('a'), { trailer: '/Encrypt 5 0 R' }), 'unsupported_type', 'without a password'],
    ['has pictures alone', pdfOf('q 10 0 0 10 0 0 cm Q'), 'no_text', 'pictures without text'],
    ['is damaged', bytesOf('%PDF-1.7\nnothing'), 'invalid_document', 'damaged'],
    ['is no PDF', bytesOf('hello'), 'invalid_document', 'no PDF'],
  ])('says why it cannot read a file that %s', async (_, file, reason, why) => {
    const error = await pdfText(file).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason } });
    expect(String(error)).toContain(why);
  });

  it('rejects what unpacks to more than a page can have, packed once, twice, or as text', async () => {
    const spaces = await flate(new Uint8Array(70_000_000).fill(32));
    const hex = Array.from(spaces, (byte) => byte.toString(16).padStart(2, '0')).join('');
    for (
      const file of [
        pdfOf(spaces, { filter: '/FlateDecode' }),
        pdfOf(await flate(spaces), { filter: '[/FlateDecode /FlateDecode]' }),
        pdfOf(`${hex}>`, { filter: '[/ASCIIHexDecode /FlateDecode]' }),
        pdfOf(ascii85(spaces), { filter: '[/ASCII85Decode /FlateDecode]' }),
        pdfOf(new Uint8Array(30_000).fill(1), { filter: '/LZWDecode' }),
      ]
    ) {
      await expect(pdfText(file)).rejects.toThrow('unpacks to more than 64 MiB');
    }
  }, 60_000);

  it('takes no longer than it may, and stops with the signal', async () => {
    const content = linesOfPdf(...Array.from({ length: 2_000 }, () => 'All ships in port'));
    const file = pdfOf(await flate(content), { filter: '/FlateDecode', pages: 500 });
    await expect(pdfText(file, { timeoutMs: 1 })).rejects.toThrow('longer than 1 ms');
    await expect(pdfText(file, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    const stop = new AbortController();
    const reading = pdfText(file, { signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each([
    ['has a font that maps millions of codes', 'BT /F2 9 Tf <41> Tj ET', wideFont],
    ['has a picture without an end', `BI /W 1 /H 1 /BPC 8 /CS /G ID ${'EI '.repeat(10_000_000)}`, ''],
    ['shows an endless text', `BT /F1 9 Tf ${'[(a) -900 (b)] TJ '.repeat(2_500_000)} ET`, ''],
    ['shows nothing', '/F1 9 Tf '.repeat(6_000_000), ''],
  ])('ends with its time and holds no turn where a page %s', async (_, content, fonts) => {
    const file = pdfOf(await flate(content), { filter: '/FlateDecode', fonts });
    let turns = 0;
    const timer = setInterval(() => void turns++, 10);
    await expect(pdfText(file, { timeoutMs: 400 })).rejects.toThrow('longer than 400 ms');
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  }, 60_000);

  it('reads files that are passed at once, each in a worker that ends', async () => {
    const texts = ['Berth one', 'Berth two', 'Berth three', 'Berth four', 'Berth five'];
    const files = texts.map((text) => pdfOf(linesOfPdf(text)));
    expect(await Promise.all(files.map((file) => pdfText(file)))).toEqual(texts.map((text) => `## Page 1\n\n${text}`));
    expect(files.every(({ byteLength }) => byteLength > 0)).toBe(true); // the caller's bytes stay
  }, 60_000);

  it('leaves no names on the platform, and but one where no worker can start', async () => {
    const names = () => Reflect.ownKeys(globalThis).filter((name) => /pdfjs/i.test(String(name)));
    await pdfText(pdfOf(linesOfPdf('a')));
    expect(names()).toEqual([]);
    await readPdf(pdfOf(linesOfPdf('a')), { timeoutMs: 60_000 });
    expect(names()).toEqual(['pdfjsWorker']);
  });
});

describe('decodeText', () => {
  const text = 'Größe: 12 Knoten, naïve café';
  const wide = (little: boolean, mark: boolean) => {
    const units = Array.from(`${mark ? '\uFEFF' : ''}${text}`, (character) => character.charCodeAt(0));
    return Uint8Array.from(units.flatMap((unit) => little ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]));
  };
  const latin = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const broken = (at: number) => {
    const bytes = bytesOf(text);
    bytes[at] = 0xff;
    return bytes;
  };

  it.each([
    ['UTF-8', bytesOf(text), text],
    ['UTF-8 with a mark', bytesOf(`\uFEFF${text}`), text],
    ['UTF-16 with a mark', wide(true, true), text],
    ['UTF-16, big end first, with a mark', wide(false, true), text],
    ['UTF-16 without a mark', wide(true, false), text],
    ['UTF-16, big end first, without a mark', wide(false, false), text],
    ['Windows-1252', latin, text],
    ['UTF-8 with a broken byte', broken(9), text.replace('12', '\ufffd2')],
    ['nothing', new Uint8Array(), ''],
  ])('reads %s', (_, bytes, expected) => {
    expect(decodeText(bytes)).toBe(expected);
  });

  it('reads what the media type or the page declares', () => {
    const cyrillic = Uint8Array.from([0xcf, 0xee, 0xf0, 0xf2]); // Windows-1251
    expect(decodeText(cyrillic, { type: 'text/plain; charset=windows-1251' })).toBe('Порт');
    const head = bytesOf('<html><head><meta charset="windows-1251"></head>');
    expect(decodeText(Uint8Array.from([...head, ...cyrillic]))).toContain('Порт');
    expect(decodeText(cyrillic, { type: 'text/plain; charset=klingon' })).toBe('Ïîðò');
  });

  it('rejects what is no text', () => {
    expect(() => decodeText(Uint8Array.from({ length: 3_000 }, (_, at) => at % 7))).toThrow('it is not text');
  });
});

/** Text for the filter `/ASCII85Decode`. */
function ascii85(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const group = [0, 1, 2, 3].map((i) => bytes[at + i] ?? 0);
    let value = group.reduce((sum, byte) => sum * 256 + byte, 0);
    const signs = Array.from({ length: 5 }, () => {
      const sign = String.fromCharCode(33 + value % 85);
      value = Math.floor(value / 85);
      return sign;
    });
    text += signs.toReversed().slice(0, Math.min(4, bytes.length - at) + 1).join('');
  }
  return `${text}~>`;
}
