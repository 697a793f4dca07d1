import { describe, expect, it } from 'vitest';
import { readText } from '../../../src/base/read-text.ts';

describe('readText', () => {
  it('returns the text of chunks that cut characters, and none of no body', async () => {
    const bytes = new TextEncoder().encode('ключ-✓-🔑');
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await readText(body)).toBe('ключ-✓-🔑');
    expect(await readText(null)).toBe('');
  });

  it('throws the very error that broke the body', async () => {
    const broken = new Error('broken');
    const { body } = new Response(new ReadableStream({ pull: (controller) => controller.error(broken) }));
    await expect(readText(body)).rejects.toBe(broken);
  });
});
