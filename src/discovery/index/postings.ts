/** The term-document matrix: for each term the tools that say it, in typed arrays, with room to grow and shrink. */

import { type Arena, createArena, grownLength, roomFor } from './arena.ts';

/** Which tools (by slot) say which terms (by id), and how much. Those of one term are adjacent, in the order of slots. */
export interface Postings {
  readonly arena: Arena;
  /** Where each term's part of the arrays starts, and how many tools say the term. */
  readonly starts: number[];
  readonly counts: number[];
  slots: Uint32Array;
  weights: Float32Array;
}

/** Creates an empty matrix. */
export function createPostings(): Postings {
  return { arena: createArena(), starts: [], counts: [], slots: new Uint32Array(0), weights: new Float32Array(0) };
}

/** How many tools say the term. */
export function countOf({ counts }: Postings, term: number): number {
  return counts[term] ?? 0;
}

/** How much a tool says the term; 0 when it does not. */
export function weightOf(postings: Postings, { term, slot }: { term: number; slot: number }): number {
  const at = find(postings, term, slot);
  const end = (postings.starts[term] ?? 0) + countOf(postings, term);
  return at < end && postings.slots[at] === slot ? postings.weights[at]! : 0;
}

/** Adds that a tool says the term, which it did not before. */
export function insertPosting(
  postings: Postings,
  { term, slot, weight }: { term: number; slot: number; weight: number },
): void {
  const offset = find(postings, term, slot) - (postings.starts[term] ?? 0);
  const before = countOf(postings, term);
  resize(postings, term, before + 1);
  const start = postings.starts[term]!;
  if (offset < before) move(postings, start + offset, { to: start + offset + 1, end: start + before });
  postings.slots[start + offset] = slot;
  postings.weights[start + offset] = weight;
}

/** Removes that a tool says the term, which it did. */
export function removePosting(postings: Postings, { term, slot }: { term: number; slot: number }): void {
  const at = find(postings, term, slot);
  const count = countOf(postings, term);
  move(postings, at + 1, { to: at, end: postings.starts[term]! + count });
  resize(postings, term, count - 1);
}

/** The index of the slot among those of a term, or its insertion index. */
function find({ starts, counts, slots }: Postings, term: number, slot: number): number {
  let low = starts[term] ?? 0;
  let high = low + (counts[term] ?? 0);
  if (high > low && slots[high - 1]! < slot) return high; // the common case: a new tool has the highest slot
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (slots[middle]! < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Allocates a block for the term's new count, and copies the old one into it. */
function resize(postings: Postings, term: number, count: number): void {
  const { arena, starts, counts } = postings;
  const [start, before] = [starts[term] ?? 0, counts[term] ?? 0];
  counts[term] = count;
  if (roomFor(before) === roomFor(count)) return;
  const to = arena.allocate(count);
  grow(postings);
  move(postings, start, { to, end: start + Math.min(before, count) });
  arena.release(start, before);
  starts[term] = to;
}

function grow(postings: Postings): void {
  const { arena, slots, weights } = postings;
  if (arena.end <= slots.length) return;
  const length = grownLength(slots.length, arena.end);
  postings.slots = new Uint32Array(length);
  postings.slots.set(slots);
  postings.weights = new Float32Array(length);
  postings.weights.set(weights);
}

function move({ slots, weights }: Postings, start: number, { to, end }: { to: number; end: number }): void {
  slots.copyWithin(to, start, end);
  weights.copyWithin(to, start, end);
}
