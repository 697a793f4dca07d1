/** Where tools come from that are called by name: a room or a server gives its tools as one of these. */

import type { ToolDefinition } from '../schema.ts';
import type { ToolOutcome } from './tool.ts';

/** Tools with one way to call them. `call` never throws; a name that is not among the definitions is `not_found`. */
export interface ToolSource {
  readonly definitions: readonly ToolDefinition[];
  call(name: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolOutcome>;
}
