import type { ErrorData } from '../base/errors.ts';

/** The outcome of a tool call. */
export type ToolOutcome =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: ErrorData };
