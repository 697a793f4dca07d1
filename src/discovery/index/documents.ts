/** The tools of an index by slot, each with its terms in the order of its text; a freed slot is used again. */

import { type Arena, createArena, grownLength } from './arena.ts';
import { type IndexedTool, splitName } from './fields.ts';

/** What an index keeps of its tools. */
export interface Documents {
  readonly tools: (IndexedTool | undefined)[];
  /** The server of each tool; empty where it has none. */
  readonly servers: string[];
  /** Grows with every registration: equal scores are in this order. */
  readonly orders: number[];
  readonly free: number[];
  readonly arena: Arena;
  /** Of all tools: the terms of the name, then of the description, then each other term once. */
  terms: Uint32Array;
  readonly starts: number[];
  readonly nameLengths: number[];
  readonly textLengths: number[];
  readonly lengths: number[];
}

/** The terms of one tool, as {@link Documents.terms} holds them. */
export interface TermSequence {
  readonly name: readonly number[];
  readonly description: readonly number[];
  readonly others: readonly number[];
}

/** Creates an empty store. */
export function createDocuments(): Documents {
  const lists = {
    tools: [],
    servers: [],
    orders: [],
    free: [],
    starts: [],
    nameLengths: [],
    textLengths: [],
    lengths: [],
  };
  return { ...lists, arena: createArena(), terms: new Uint32Array(0) };
}

/** Keeps a tool and returns its slot. */
export function insertDocument(
  documents: Documents,
  { tool, order, sequence }: { tool: IndexedTool; order: number; sequence: TermSequence },
): number {
  const slot = documents.free.pop() ?? documents.tools.length;
  const { name, description, others } = sequence;
  const length = name.length + description.length + others.length;
  const start = documents.arena.allocate(length);
  grow(documents);
  documents.terms.set(name, start);
  documents.terms.set(description, start + name.length);
  documents.terms.set(others, start + name.length + description.length);
  documents.tools[slot] = tool;
  documents.servers[slot] = splitName(tool.name).server;
  documents.orders[slot] = order;
  documents.starts[slot] = start;
  documents.nameLengths[slot] = name.length;
  documents.textLengths[slot] = name.length + description.length;
  documents.lengths[slot] = length;
  return slot;
}

/** Removes the tool in this slot. */
export function removeDocument(documents: Documents, slot: number): void {
  documents.arena.release(documents.starts[slot]!, documents.lengths[slot]!);
  documents.tools[slot] = undefined;
  documents.lengths[slot] = 0;
  documents.free.push(slot);
}

/** Every term that the tool says, once. */
export function termSet({ terms, starts, lengths }: Documents, slot: number): ReadonlySet<number> {
  return new Set(terms.subarray(starts[slot], starts[slot]! + lengths[slot]!));
}

function grow(documents: Documents): void {
  const { arena, terms } = documents;
  if (arena.end <= terms.length) return;
  documents.terms = new Uint32Array(grownLength(terms.length, arena.end));
  documents.terms.set(terms);
}
