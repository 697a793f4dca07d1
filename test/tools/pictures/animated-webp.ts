/** Puts still WebP pictures together into a moving one: https://developers.google.com/speed/webp/docs/riff_container */

/** A picture and how long it stays. */
export interface Frame {
  readonly webp: Uint8Array;
  readonly durationMs: number;
}

/** Chunks that hold what a picture looks like. */
const pictureChunks: readonly string[] = ['ALPH', 'VP8 ', 'VP8L'];

/** Returns the animated picture, which repeats. All frames have the same size, in pixels. */
export function animatedWebp(
  frames: readonly Frame[],
  { width, height }: { width: number; height: number },
): Uint8Array {
  const size = [...uint24(width - 1), ...uint24(height - 1)];
  const canvas = chunk('VP8X', Uint8Array.of(0b10, 0, 0, 0, ...size));
  const forever = chunk('ANIM', Uint8Array.of(255, 255, 255, 255, 0, 0));
  const moving = frames.map(({ webp, durationMs }) => {
    const place = Uint8Array.of(0, 0, 0, 0, 0, 0, ...size, ...uint24(durationMs), 0b10);
    return chunk('ANMF', concat([place, ...picturesIn(webp)]));
  });
  return chunk('RIFF', concat([ascii('WEBP'), canvas, forever, ...moving]));
}

function picturesIn(webp: Uint8Array): Uint8Array[] {
  const view = new DataView(webp.buffer, webp.byteOffset, webp.byteLength);
  const found: Uint8Array[] = [];
  for (let at = 12; at + 8 <= webp.length;) {
    const next = at + 8 + view.getUint32(at + 4, true) + (view.getUint32(at + 4, true) & 1);
    if (pictureChunks.includes(String.fromCharCode(...webp.subarray(at, at + 4)))) found.push(webp.subarray(at, next));
    at = next;
  }
  return found;
}

function chunk(name: string, content: Uint8Array): Uint8Array {
  const { length } = content;
  const head = Uint8Array.of(...ascii(name), length & 255, (length >> 8) & 255, (length >> 16) & 255, length >>> 24);
  return concat([head, content, new Uint8Array(length & 1)]);
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function uint24(value: number): number[] {
  return [value & 255, (value >> 8) & 255, (value >> 16) & 255];
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
