import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../demo/chat/state/message.ts';
import { createHeights, gap, piecesOf } from '../../../../demo/chat/state/thread-window.ts';

const messages = Array.from(
  { length: 1000 },
  (_, i): Message => ({ role: 'user', id: `m-${i}`, text: `Message ${i}` }),
);

/** Every message 76 pixels high, which makes 100 with the gap. */
function measured(list = messages): ReturnType<typeof createHeights> {
  const heights = createHeights();
  heights.take(list);
  list.forEach((_, place) => heights.measure(place, 100 - gap));
  return heights;
}

describe('createHeights', () => {
  it('gives the messages of which something is in sight', () => {
    expect(measured().within({ top: 250, height: 300 })).toEqual({ from: 2, to: 6 });
    expect(measured().within({ top: -500, height: 100 })).toEqual({ from: 0, to: 1 });
  });

  it('gives the last ones beyond the end', () => {
    expect(measured().within({ top: Infinity, height: 300 })).toEqual({ from: 997, to: 1000 });
  });

  it('gives what there is of a chat that is shorter than what is in sight', () => {
    expect(measured(messages.slice(0, 2)).within({ top: 0, height: 900 })).toEqual({ from: 0, to: 2 });
    expect(measured([]).within({ top: 0, height: 900 }).to).toBe(0);
  });

  it('keeps what was measured when messages come', () => {
    const heights = measured(messages.slice(0, 10));
    heights.measure(0, 500);
    heights.take(messages);
    expect(heights.of({ from: 0, to: 1 })).toBe(500);
  });

  it('does not take what is not laid out for a message without height', () => {
    expect(measured().measure(5, 0)).toBe(false);
  });
});

describe('piecesOf', () => {
  it('puts room in the place of what is not drawn, which takes as much', () => {
    const heights = measured();
    const pieces = piecesOf(new Set([500, 501, 900]), { count: 1000, heights });
    expect(pieces).toEqual([
      { place: 0, height: 50_000 - gap },
      { place: 500 },
      { place: 501 },
      { place: 502, height: 39_800 - gap },
      { place: 900 },
      { place: 901, height: 9900 - gap },
    ]);
  });
});
