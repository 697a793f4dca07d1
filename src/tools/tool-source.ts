/** Tools that are called by name: those of a room or a server. */

import { fromData } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Span } from '../events/span.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** Tools with one way to call them. `call` never throws; a name that is not among the definitions is `not_found`. */
export interface ToolSource {
  readonly definitions: readonly ToolDefinition[];
  call(name: string, input: unknown, options?: ToolSourceCall): Promise<ToolOutcome>;
}

/** The circumstances of a call. */
export interface ToolSourceCall {
  readonly signal?: AbortSignal;
  /** The span of the call. */
  readonly span?: Span | undefined;
  /** Receives a cause that the outcome does not contain. */
  readonly report?: ToolContext['report'];
}

/** Whether these are tools with a way to call them, and not one tool. */
export function isToolSource(given: Tool | ToolSource): given is ToolSource {
  return 'definitions' in given;
}

/** The tools of a source one by one, for `invokeTool`. The source itself checks their inputs. */
export function toolsOf(source: ToolSource): readonly Tool[] {
  return source.definitions.map((definition): Tool => ({
    definition,
    check: (input) => ({ ok: true, input }),
    async execute(input, { signal, span, report }) {
      const outcome = await source.call(definition.name, input, { signal, span, report });
      if (outcome.ok) return outcome.output;
      throw fromData(outcome.error);
    },
  }));
}
