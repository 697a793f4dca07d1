import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../adapters/grounding/decode-text.ts';
import { fileText, type SkippedPart } from '../../../adapters/grounding/file-text.ts';
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
    await expect(fileText(bytesOf('{\\rtf1\\ansi Berth ten}'))).rejects.toThrow('save it as .docx');
    await expect(fileText(new Uint8Array(2_000))).rejects.toMatchObject({ details: { reason: 'no_text' } });
  });
});

describe('fileText with `onSkipped`', () => {
  it('names the pages without text and what an office file has besides text', async () => {
    const skipped: string[] = [];
    const onSkipped = ({ part, reason }: SkippedPart): void => void skipped.push(`${part}: ${reason}`);
    await expect(fileText(pdfOf('', { pages: 2 }), { onSkipped })).rejects.toThrow('pictures without text');
    const pages = pdfOf(linesOfPdf('Berth seven')); // has one page
    await fileText(pages, { onSkipped });
    const document = '<w:document><w:body><w:p><w:r><w:t>Berth eight</w:t></w:r></w:p></w:body></w:document>';
    const media = { 'word/media/a.png': 'a', 'word/media/b.png': 'b', 'word/charts/chart1.xml': '<c/>' };
    await fileText(await zipOf({ 'word/document.xml': document, ...media }), { onSkipped });
    expect(skipped).toEqual(['2 pictures: only text is read', '1 chart: only text is read']);
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
  const wide = (little: boolean, mark: boolean, content = text) => {
    const units = Array.from(`${mark ? '\uFEFF' : ''}${content}`, (character) => character.charCodeAt(0));
    return Uint8Array.from(units.flatMap((unit) => little ? [unit & 255, unit >> 8] : [unit >> 8, unit & 255]));
  };
  const utf32 = (little: boolean) => {
    const view = new DataView(new ArrayBuffer(4 * text.length + 4));
    Array.from(`\uFEFF${text}`, (character, at) => view.setUint32(4 * at, character.charCodeAt(0), little));
    return new Uint8Array(view.buffer);
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
    ['UTF-16 with signs of writing programs', wide(true, false, '– 5 € for „x“'), '– 5 € for „x“'],
    ['Windows-1252', latin, text],
    ['UTF-8 with a broken byte', broken(9), text.replace('12', '\ufffd2')],
    ['UTF-32', utf32(true), text],
    ['UTF-32, big end first', utf32(false), text],
    ['text behind which zeros follow', Uint8Array.from([...bytesOf(text), ...new Uint8Array(64)]), text],
    ['nothing', new Uint8Array(), ''],
  ])('reads %s', (_, bytes, expected) => {
    expect(decodeText(bytes)).toBe(expected);
  });

  it.each([
    ['shift_jis', 'keaOT45Wi7SCzINOg4yBW4OTgs2PQ5edkoaCxYK3gUI=', '第三桟橋のクレーンは修理中です。'],
    ['euc-jp', 'wui7sLu3trakzqWvpeyhvKXzpM+9pM39w+akx6S5oaM=', '第三桟橋のクレーンは修理中です。'],
    ['iso-2022-jp', 'GyRCQmg7MDs3NjYkTiUvJWwhPCVzGyhC', '第三桟橋のクレーン'],
    [
      'gb18030',
      'tdrI/cLrzbe1xMbw1ti7+tX91NrQ3sDto6zH68q508PG5Mv7yeixuKGj',
      '第三码头的起重机正在修理，请使用其他设备。',
    ],
    ['big5', 'ssSkVL1YwFmqurBfrau+96W/pmKt17J6oUG90KjPpc6o5KVMs12zxqFD', '第三碼頭的起重機正在修理，請使用其他設備。'],
    ['euc-kr', 'vMLCsCC6zrXOwMcgseLB37HitMIgvPa4riDB38DUtM+02S4=', '셋째 부두의 기중기는 수리 중입니다.'],
    [
      'windows-1251',
      'yvDg7SDt4CDy8OXy/OXsIO/w6Pfg6+Ug8eXp9+DxIOIg8OXs7u3y5S4=',
      'Кран на третьем причале сейчас в ремонте.',
    ],
    ['koi8-r', '69LBziDOwSDU0sXU2MXNINDSyd7BzMUg08XK3sHTINcg0sXNz87UxS4=', 'Кран на третьем причале сейчас в ремонте.'],
    [
      'iso-8859-5',
      'uuDQ3SDd0CDi4NXi7NXcIN/g2OfQ29Ug4dXZ59DhINIg4NXc3t3i1S4=',
      'Кран на третьем причале сейчас в ремонте.',
    ],
    [
      'iso-8859-2',
      'RLx3aWcgbmEgdHJ6ZWNpbSBuYWJyemW/dSBqZXN0IHezYbZuaWUgbmFwcmF3aWFueSwgcHJvc3rqIHW/eeYgaW5ueWNoIHVyerFkemXxLg==',
      'Dźwig na trzecim nabrzeżu jest właśnie naprawiany, proszę użyć innych urządzeń.',
    ],
    ['ibm866', 'iuCgrSCtoCDi4KXi7KWsIK/gqOegq6Ug4aWp56DhIKIg4KWsrq3ipS4=', 'Кран на третьем причале сейчас в ремонте.'],
    [
      'windows-1253',
      'zyDj5fHh7fzyIPP05+0g9PHf9Ocg8PHv4uve9OEg5fDp8+rl9dzm5fTh6S4=',
      'Ο γερανός στην τρίτη προβλήτα επισκευάζεται.',
    ],
    ['windows-1255', '5PLi5fjvIOH49unzIOT57On56SDw7vbgIOH66ffl7y4=', 'העגורן ברציף השלישי נמצא בתיקון.'],
    ['windows-1256', 'x+HRx93aySDa4ewgx+HR1e3dIMfhy8fhyyDe7c8gx+HF1eHHzS4=', 'الرافعة على الرصيف الثالث قيد الإصلاح.'],
    ['windows-874', '4KTDubfV6Lfo0uDD18231ejK0sGh08XRp6vozcE=', 'เครนที่ท่าเรือที่สามกำลังซ่อม'],
    [
      'windows-1250',
      'RJ93aWcgbmEgdHJ6ZWNpbSBuYWJyemW/dSBqZXN0IHezYZxuaWUgbmFwcmF3aWFueSwgcHJvc3rqIHW/eeYgaW5ueWNoIHVyerlkemXxLg==',
      'Dźwig na trzecim nabrzeżu jest właśnie naprawiany, proszę użyć innych urządzeń.',
    ],
    [
      'windows-1254',
      '3Of8bmP8IGlza2VsZWRla2kgdmlu5yD+dSBhbmRhIG9uYXL9bP15b3IsIGJh/mthIGVraXBtYW4ga3VsbGFu/W4u',
      'Üçüncü iskeledeki vinç şu anda onarılıyor, başka ekipman kullanın.',
    ],
    [
      'windows-1252',
      'RGVyIEtyYW4gYW0gSGFmZW4gaXN0IGdy9t9lciBnZXdvcmRlbiCWIGb8ciBzY2j2bmUsIGdyb99lIFNjaGlmZmU6IJN0cuhzIGNoZXKULg==',
      'Der Kran am Hafen ist größer geworden – für schöne, große Schiffe: “très cher”.',
    ],
  ])('finds that a file is in %s', (_, base64, expected) => {
    const bytes = Uint8Array.fromBase64(base64);
    expect(decodeText(bytes)).toBe(expected);
    const long = new Uint8Array(20_001).fill(32); // the sample ends within a character
    for (let at = 1; at + bytes.length < long.length; at += bytes.length + 1) long.set(bytes, at);
    expect(decodeText(long)).toContain(expected);
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
