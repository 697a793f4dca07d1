import { describe, expect, it } from 'vitest';
import { readAnswerText, readText } from '../../../src/base/read-text.ts';
import { yieldTurn } from '../../../src/base/turns.ts';

/** A body in pieces of this many bytes. */
function inPieces(text: string, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at += size));
    },
  });
}

describe('readText', () => {
  it.each([17, 19, 4_095, 4_097, 1_000_000])('returns the same text from pieces of %d bytes', async (size) => {
    const text = '\ufeffGrüße, 世界 \u{1f6a2}'.repeat(2_000);
    expect(await readText(inPieces(text, size))).toBe(text.slice(1)); // a byte order mark at the start is none of the text
  });

  it('lets others have their turns between small pieces', async () => {
    let turns = 0;
    let isOver = false;
    const count = async (): Promise<void> => {
      for (; !isOver; turns++) await yieldTurn();
    };
    const counted = count();
    await readText(inPieces('x'.repeat(1_600_000), 16));
    isOver = true;
    await counted;
    expect(turns).toBeGreaterThan(50);
  });

  it('rejects with the error that broke the body', async () => {
    const error = new Error('broken');
    await expect(readText(new ReadableStream({ pull: (controller) => controller.error(error) }))).rejects.toBe(error);
  });
});

describe('readAnswerText', () => {
  const gbk = [0xc4, 0xe3, 0xba, 0xc3];
  const bytesOf = (start: string, rest: readonly number[]) =>
    new Uint8Array([...new TextEncoder().encode(start), ...rest]);

  it.each([
    ['its label', 'text/plain; charset="GBK"', bytesOf('', gbk), '你好'],
    ['the page', 'text/html', bytesOf('<head><META http-equiv="x" content="text/html; charset=gb2312">', gbk), '你好'],
    ['the document', 'application/xml', bytesOf('<?xml version="1.0" encoding="ISO-8859-1"?>', [0xfc]), 'ü'],
    ['its mark', 'text/plain', bytesOf('', [0xff, 0xfe, 0x60, 0x4f]), '你'],
    ['UTF-8, whatever it declares', 'text/html; charset=gbk', bytesOf('你好', []), '你好'],
    ['UTF-8 where nothing else is known', 'text/plain; charset=klingon', bytesOf('a', [0xff]), 'a\ufffd'],
  ])('reads the encoding of %s', async (_, type, bytes, text) => {
    const read = await readAnswerText(new Response(bytes, { headers: { 'content-type': type } }));
    expect(read.slice(-text.length)).toBe(text);
  });
});
