/** The types of tools, for typed messages. */

import type { Tool } from '../tool.ts';

/**
 * The inputs and outputs of tools by their names, as `UIMessage` of the AI SDK takes them.
 *
 * @example
 * const tools = [add, weather];
 * type Message = PinnaceUIMessage<ToolsOf<typeof tools>>;
 */
export type ToolsOf<T extends readonly Tool[]> = {
  [One in T[number] as IdOf<One>]: TypesOf<One>;
};

type IdOf<One> = One extends { readonly types?: infer T }
  ? NonNullable<T> extends { readonly id: infer Id extends string } ? Id : never
  : never;

type TypesOf<One> = One extends { readonly types?: infer T }
  ? NonNullable<T> extends { readonly input: infer Input; readonly output: infer Output }
    ? { input: Input; output: Output }
  : never
  : never;
