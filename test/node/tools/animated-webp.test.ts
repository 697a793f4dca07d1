import { describe, expect, it } from 'vitest';
import { animatedWebp } from '../../tools/pictures/animated-webp.ts';

/** A still picture as browsers write it: a header, the picture, and a chunk without use. */
function still(content: readonly number[]): Uint8Array {
  const picture = [...ascii('VP8 '), content.length, 0, 0, 0, ...content, ...content.length % 2 ? [0] : []];
  const chunks = [...ascii('WEBP'), ...picture, ...ascii('EXIF'), 2, 0, 0, 0, 9, 9];
  return Uint8Array.from([...ascii('RIFF'), chunks.length, 0, 0, 0, ...chunks]);
}

function ascii(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

/** The names of the chunks behind `at`, and what is in them. */
function chunksOf(file: Uint8Array, at: number): (readonly [name: string, content: Uint8Array])[] {
  if (at >= file.length) return [];
  const size = new DataView(file.buffer, file.byteOffset).getUint32(at + 4, true);
  const name = String.fromCharCode(...file.subarray(at, at + 4));
  return [[name, file.subarray(at + 8, at + 8 + size)], ...chunksOf(file, at + 8 + size + size % 2)];
}

describe('animatedWebp', () => {
  const frames = [{ webp: still([1, 2, 3]), durationMs: 120 }, { webp: still([4, 5]), durationMs: 70_000 }];
  const film = animatedWebp(frames, { width: 800, height: 560 });

  it('says how large it is, and that it moves for ever', () => {
    const [[name, riff] = ['', new Uint8Array()]] = chunksOf(film, 0);
    expect([name, riff.length]).toEqual(['RIFF', film.length - 8]);
    const [canvas, forever] = chunksOf(film, 12);
    expect(canvas).toEqual(['VP8X', Uint8Array.of(2, 0, 0, 0, 31, 3, 0, 47, 2, 0)]);
    expect(forever?.[1].slice(4)).toEqual(Uint8Array.of(0, 0));
  });

  it('holds each picture, without what belongs to none, for as long as it stays', () => {
    const moving = chunksOf(film, 12).slice(2);
    expect(moving.map(([name]) => name)).toEqual(['ANMF', 'ANMF']);
    expect(moving.map(([, frame]) => [frame[12], frame[13], frame[14]])).toEqual([[120, 0, 0], [112, 17, 1]]);
    expect(moving.map(([, frame]) => chunksOf(frame, 16))).toEqual([
      [['VP8 ', Uint8Array.of(1, 2, 3)]],
      [['VP8 ', Uint8Array.of(4, 5)]],
    ]);
  });
});
