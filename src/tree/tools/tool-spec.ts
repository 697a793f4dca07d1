/** One tool of the tree: how it reads its input, which nodes it depends on, and what it does. */

import type * as v from 'valibot';
import type { ToolAnnotations } from '../../base/schema.ts';
import type { Transaction } from '../nodes/mutate.ts';
import type { Dependency } from './call/conflict-scope.ts';
import type { CallContext } from './caller.ts';
import type { Output } from './output.ts';

type Schema = v.GenericSchema<unknown, Readonly<Record<string, unknown>>>;

/** What all tools have. */
interface SpecBase<S extends Schema> {
  readonly name: string;
  /** Tells the model when to call the tool and what it returns. */
  readonly description: string;
  readonly annotations: v.InferOutput<typeof ToolAnnotations>;
  readonly input: S;
  /** The nodes that must exist. */
  readonly targets: (input: v.InferOutput<S>) => readonly string[];
  /** What is wrong whatever the version; throws `invalid_argument`. */
  readonly guard?: (context: CallContext, input: v.InferOutput<S>) => void;
  /** Reads what is large in the input, once, before the tree is locked; throws `invalid_argument`. */
  readonly prepare?: (context: CallContext, input: v.InferOutput<S>) => void;
  /** What must be unchanged since the caller read it; `undefined`: the whole tree. */
  readonly dependsOn?: (input: v.InferOutput<S>) => readonly Dependency[] | undefined;
  /** Takes so long that others change the tree meanwhile: only changes of what it depends on are conflicts, in every tree. */
  readonly isLong?: boolean;
}

/** Reads only. */
export interface ReadSpec<S extends Schema> extends SpecBase<S> {
  readonly kind: 'read' | 'export';
  readonly run: (context: CallContext, input: v.InferOutput<S>) => Output;
}

/** Changes the tree, through the transaction, or the agent's view; then the output says `changed`. */
export interface WriteSpec<S extends Schema> extends SpecBase<S> {
  readonly kind: 'view' | 'tree';
  readonly run: (context: CallContext, input: v.InferOutput<S>, transaction: Transaction) => Output;
}

/** A tool whose input type is hidden: `input` and `run` belong together. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly annotations: v.InferOutput<typeof ToolAnnotations>;
  readonly kind: 'read' | 'export' | 'view' | 'tree';
  readonly input: Schema;
  readonly targets: (input: Output) => readonly string[];
  readonly guard?: (context: CallContext, input: Output) => void;
  readonly prepare?: (context: CallContext, input: Output) => void;
  readonly dependsOn?: (input: Output) => readonly Dependency[] | undefined;
  readonly isLong?: boolean;
  readonly run: (context: CallContext, input: Output, transaction: Transaction) => Output;
}

/** Hides the input's type. */
export function toolSpec<S extends Schema>(spec: ReadSpec<S> | WriteSpec<S>): ToolSpec {
  return spec; // safe: `call` passes only values that `input` has checked
}

/** Annotations of the reading tools, and of the changing ones by what a repeat does. */
export const reads = { readOnlyHint: true, openWorldHint: false } as const;
export const adds = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
export const sets = { ...adds, idempotentHint: true } as const;
export const destroys = { ...adds, destructiveHint: true } as const;
