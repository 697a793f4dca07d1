/** What the tools of a tree return. */

import type { TreeErrorData } from './tool-error.ts';

/** The output of a tool, without its version. */
export type Output = Readonly<Record<string, unknown>>;

/** An output with its version. */
export type Answer = Output & { readonly version: string };

/** The outcome of a call. */
export type TreeOutcome =
  | { readonly ok: true; readonly output: Answer }
  | { readonly ok: false; readonly error: TreeErrorData };
