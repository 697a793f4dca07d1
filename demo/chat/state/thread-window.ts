/** Which messages of a long chat are drawn: those in sight and some around them. In the place of the others there is room. */

import type { Message } from './message.ts';

/** Chats up to this length are drawn whole. */
export const wholeUpTo = 40;

/** Between two messages, in pixels, as the style sheet has it. */
export const gap = 24;

/** What is in sight of the thread, in pixels from its top. `top` may lie beyond its end. */
export interface Sight {
  readonly top: number;
  readonly height: number;
}

/** Messages by their places, up to `to` and without it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** An item of the thread: a message by index, or the space of messages that are not drawn. */
export type Piece = { readonly place: number } | { readonly place: number; readonly height: number };

/** The heights of a chat's messages: as they were measured, and before that as they are likely to be. */
export interface Heights {
  /** The current messages. Does not measure known messages again. */
  take(messages: readonly Message[]): void;
  /** Returns whether it was another one. */
  measure(place: number, height: number): boolean;
  /** The messages of which something lies in there. */
  within(sight: Sight): Range;
  /** Where a message starts. */
  topOf(place: number): number;
  /** What these messages take, with the gaps between them. */
  of(range: Range): number;
}

/** Creates the heights, of no messages at first. */
export function createHeights(): Heights {
  const known = new WeakMap<Message, number>();
  let all: readonly Message[] = [];
  let heights: number[] = [];

  function of({ from, to }: Range): number {
    let sum = 0;
    for (let i = from; i < to; i++) sum += heights[i] ?? 0;
    return sum + Math.max(0, to - from - 1) * gap;
  }

  function measuredOrLikely(message: Message): number {
    const height = known.get(message) ?? likelyHeight(message);
    known.set(message, height);
    return height;
  }

  return {
    of,
    take(messages) {
      if (messages === all) return;
      all = messages;
      heights = messages.map(measuredOrLikely);
    },
    measure(place, height) {
      const message = all[place];
      if (!message || height <= 0 || heights[place] === height) return false;
      known.set(message, height);
      heights[place] = height;
      return true;
    },
    within: (sight) => rangeWithin(heights, sight),
    topOf: (place) => place === 0 ? 0 : of({ from: 0, to: place }) + gap,
  };
}

function rangeWithin(heights: readonly number[], { top, height }: Sight): Range {
  const total = heights.reduce((sum, one) => sum + one + gap, 0);
  const start = Math.max(0, Math.min(top, total - height));
  const end = start + height;
  let from = 0;
  let bottom = (heights[0] ?? 0) + gap;
  while (from < heights.length - 1 && bottom <= start) bottom += (heights[++from] ?? 0) + gap;
  let to = from + 1;
  while (to < heights.length && bottom < end) bottom += (heights[to++] ?? 0) + gap;
  return { from, to: Math.min(to, heights.length) };
}

const lineHeight = 24;

/** By the length of its text; once it is drawn, it is measured. */
function likelyHeight(message: Message): number {
  if (message.role === 'user') {
    return 40 + lineHeight * Math.floor(message.text.length / 60) + 120 * (message.files?.peek().length ?? 0);
  }
  let [cards, letters] = [0, 0];
  for (const part of message.parts.peek()) {
    if (part.type === 'text') letters += part.text.peek().length;
    else if (part.type === 'tool' || part.type === 'plan') cards++;
  }
  return 110 + 56 * cards + lineHeight * Math.ceil(letters / 70);
}

/** The items of the thread when these messages are drawn, in order. */
export function piecesOf(drawn: ReadonlySet<number>, { count, heights }: { count: number; heights: Heights }): Piece[] {
  const pieces: Piece[] = [];
  let next = 0;
  for (const place of [...drawn, count].toSorted((a, b) => a - b)) {
    if (place > next) pieces.push({ place: next, height: heights.of({ from: next, to: place }) });
    if (place < count) pieces.push({ place });
    next = place + 1;
  }
  return pieces;
}
