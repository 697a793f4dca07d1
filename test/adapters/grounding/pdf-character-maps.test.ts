import { describe, expect, it } from 'vitest';
import { pdfText } from '../../../adapters/grounding/pdf-text.ts';
import { helvetica, pdfOf } from '../../fixtures/pdf.ts';

/** A font of a language that is encoded by a predefined character map, as older CJK files have. */
function cjkFont(encoding: string, ordering: string): string {
  const descriptor = '<< /Type /FontDescriptor /FontName /Ming /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 ' +
    '/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>';
  const system = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  const descendant = '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ming ' +
    `/CIDSystemInfo ${system} /FontDescriptor ${descriptor} >>`;
  return `<< /Type /Font /Subtype /Type0 /BaseFont /Ming /Encoding /${encoding} /DescendantFonts [${descendant}] >>`;
}

const drawn = 'BT /F1 24 Tf 100 700 Td <65E5672C8A9E> Tj ET';

describe('a PDF whose fonts have predefined character maps', () => {
  it.each([
    ['UniJIS-UCS2-H', 'Japan1', 'UniJIS-UCS2-H'],
    ['90ms-RKSJ-H', 'Japan1', '90ms-RKSJ-H'],
    ['GBK-EUC-H', 'GB1', 'GBK-EUC-H'],
    ['ETen-B5-H', 'CNS1', 'ETen-B5-H'],
    ['KSCms-UHC-H', 'Korea1', 'KSCms-UHC-H'],
    ['Identity-H', 'Japan1', 'Adobe-Japan1-UCS2'],
  ])('is refused with their name where all its text is lost: %s', async (encoding, ordering, map) => {
    await expect(pdfText(pdfOf(drawn, { font: cjkFont(encoding, ordering) }))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(`predefined character map "${map}"; save it with Unicode maps`),
      details: { reason: 'character_map', map },
    });
  });

  it('says in its first line that text may be missing where another font can be read', async () => {
    const content = `${drawn} BT /F2 24 Tf 100 600 Td (Part 7) Tj ET`;
    const font = cjkFont('GBK-EUC-H', 'GB1');
    expect(await pdfText(pdfOf(content, { font, fonts: `/F2 ${helvetica}` }))).toBe(
      'Text may be missing: fonts of this PDF use the predefined character map GBK-EUC-H, which cannot be read.\n\n' +
        '## Page 1\n\nPart 7',
    );
  });
});
