import { describe, expect, it } from 'vitest';
import { readText } from '../../../src/base/read-text.ts';
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
