/** A mutation as data: who made it, what changed, and how it is stored. */

import type { TreeChange } from './change.ts';
import type { TreeOp } from './op.ts';

/** Who changes the tree, as the change feed reports it. */
export interface Origin {
  readonly agentId: string;
  /** The tool, or what else the caller calls it. */
  readonly operation: string;
}

/** One mutation, as the change feed reports it. */
export interface TreeEvent {
  readonly rev: number;
  /** The version that the mutation gave, as the tool `undo` takes it. */
  readonly version: string;
  readonly changes: readonly TreeChange[];
  readonly origin?: Origin;
  /** The version of the mutation that this one took back. */
  readonly undoes?: string;
}

/** The outcome of a mutation. Without changes, the revision is as before. */
export interface Mutation {
  readonly rev: number;
  readonly changes: readonly TreeChange[];
  /** What was done, as data; only where the tree is in storage. */
  readonly ops: readonly TreeOp[];
}

/** The answer that is stored for an idempotency key. */
export interface Remembered {
  /** Digest of the request's content. */
  readonly digest: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** What belongs to a mutation besides its operations. */
export interface Attached {
  readonly origin?: Origin | undefined;
  readonly answer?: { readonly id: string; readonly remembered: Remembered } | undefined;
}

/** Keeps a tree and its storage the same. */
export interface TreeStore {
  /** Runs one piece of work after the other; all that changes the tree runs here. */
  lock<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Stores a mutation that was just made. When it throws, the mutation was taken back, as a mutation of its own: no revision ever
   * names two states. `conflict`: another instance has changed the tree, and this one has taken that over.
   */
  store(mutation: Mutation, attached: Attached): Promise<void>;
  /** What was answered to a request with this id, by any instance. */
  answer(id: string): Promise<Remembered | undefined>;
  /** Lets this instance write before all others, until it has stored a change or releases its turn. */
  takeTurn(): Promise<void>;
  releaseTurn(): Promise<void>;
  /** Takes over what other instances have done. */
  refresh(): Promise<void>;
}
