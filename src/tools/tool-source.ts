/** Tools that are called by name: those of a room or a server. */

import { checkOptions, wrongArgument } from '../base/check-options.ts';
import { fromData } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
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

/** Returns the tools of a composition one by one. @throws PinnaceError `invalid_argument` for what is no tool. */
export function givenTools(tools: readonly (Tool | ToolSource)[] = []): readonly Tool[] {
  const action = 'compose the runtime';
  checkOptions(action, { tools }, { tools: ['array', 'an array of tools, such as [add]'] });
  return tools.flatMap((given: unknown, at) => {
    if (isRecord(given) && Array.isArray(given['definitions'])) return toolsOf(given as unknown as ToolSource);
    if (isRecord(given) && isRecord(given['definition']) && 'execute' in given) return [given as unknown as Tool];
    const isOfAi = isRecord(given) && 'inputSchema' in given;
    const why = isOfAi
      ? 'is a tool of the AI SDK; pass fromAiTool(id, tool) of "pinnace/tools"'
      : 'is no tool; make one with defineTool';
    throw wrongArgument(action, `tools.${at}`, `"tools.${at}" ${why}`);
  });
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
