/** Takes over tools that were made with the AI SDK's `tool()`. */

import { PinnaceError } from '../../base/errors.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { defineTool, type ToolOptions } from '../define-tool.ts';
import type { ToolContext, TypedTool } from '../tool.ts';
import { isStandard } from './read-standard.ts';
import type { AnySchema } from './schema-types.ts';

/** The parts of an AI SDK tool that are used; what `tool()` and `dynamicTool()` return has them. */
export interface AiTool {
  readonly type?: 'function' | 'dynamic' | 'provider' | undefined;
  readonly description?: unknown;
  readonly title?: string | undefined;
  readonly inputSchema: unknown;
  readonly needsApproval?: unknown;
  readonly execute?: unknown;
}

/** What the AI SDK's tools do not say: annotations, limits, secrets, and whatever is to replace what they say. */
export interface FromAiToolOptions
  extends Partial<Omit<ToolOptions<JsonSchema>, 'id' | 'input' | 'output' | 'outputSchema' | 'execute'>> {
  /** The `context` that `execute` gets, such as a connection. */
  readonly context?: unknown;
}

/**
 * Creates a tool from one of the AI SDK, for `createRuntime({ tools })`. `needsApproval: true` becomes `approval: 'always'`. `execute` gets
 * `toolCallId`, `abortSignal` and `context`, and no `messages`. Of an async iterable the last value is the output. Models receive
 * the output itself: `toModelOutput`, `providerOptions` and the `onInput…` callbacks are not used.
 *
 * @param id The tool's id and name, as its key in a `ToolSet`.
 * @throws PinnaceError `invalid_argument` for a tool of a provider or without `execute`, for a description or `needsApproval` that is a
 * function (set `description` or `approval` in the options), and for an input that JSON Schema cannot express.
 * @example
 * const tools = Object.entries(toolSet).map(([id, one]) => fromAiTool(id, one));
 */
export function fromAiTool<const Id extends string, T extends AiTool>(
  id: Id,
  tool: T,
  { context, ...options }: FromAiToolOptions = {},
): TypedTool<Id, InputOf<T>, OutputOf<T>> {
  const { description, inputSchema, needsApproval, title, type, execute }: AiTool = tool;
  if (type === 'provider' || typeof execute !== 'function') throw unusable(id, 'it has no "execute"');
  const text = options.description ?? description;
  if (typeof text !== 'string') throw unusable(id, 'its description is no text; set "description" in the options');
  if (typeof needsApproval === 'function' && options.approval === undefined) {
    throw unusable(id, '"needsApproval" is a function; set "approval" in the options, or decide in "authorize"');
  }
  const { input, validate } = inputOf(id, inputSchema);
  return defineTool({
    ...(title !== undefined && { title }),
    ...(needsApproval === true && { approval: 'always' as const }),
    ...options,
    id,
    description: text,
    input,
    async execute(value: unknown, { toolCallId, signal }: ToolContext) {
      const checked = validate ? await validate(value) : value;
      return await lastOf(execute(checked, { toolCallId, messages: [], abortSignal: signal, context }));
    },
  }) as TypedTool<Id, InputOf<T>, OutputOf<T>>; // as the types of the AI SDK say
}

type InputOf<T> = T extends { readonly execute?: ((input: infer I, ...rest: never) => unknown) | undefined } ? I
  : unknown;

type OutputOf<T> = T extends { readonly execute?: ((...input: never) => infer R) | undefined } ? ValueOf<R> : unknown;

type ValueOf<R> = R extends AsyncIterable<infer One> ? One : Awaited<R>;

interface ReadInput {
  readonly input: AnySchema;
  /** Returns what `execute` gets; the schemas of the AI SDK may be asynchronous. */
  readonly validate?: ((value: unknown) => Promise<unknown>) | undefined;
}

/** The result of a check by a schema of the AI SDK. */
type Validated = { readonly success: true; readonly value: unknown } | { readonly success: false };

function inputOf(id: string, schema: unknown): ReadInput {
  if (isStandard(schema)) return { input: schema };
  const read: unknown = typeof schema === 'function' ? schema() : schema; // a lazy schema
  const { jsonSchema, validate } = (read ?? {}) as { readonly jsonSchema?: unknown; readonly validate?: unknown };
  if (typeof jsonSchema !== 'object' || jsonSchema === null || 'then' in jsonSchema) {
    throw unusable(id, 'its input schema has no JSON Schema yet');
  }
  const { $schema: _, ...input } = jsonSchema as JsonSchema; // safe: `defineTool` checks it
  if (typeof validate !== 'function') return { input };
  return {
    input,
    async validate(value) {
      const result = await validate(value) as Validated;
      if (result.success) return result.value;
      throw new PinnaceError(
        'invalid_argument',
        `Cannot read the input of tool "${id}": its schema does not accept it`,
      );
    },
  };
}

async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return await result;
  let last: unknown;
  for await (const value of result as AsyncIterable<unknown>) last = value; // safe: it has the iterator
  return last;
}

function unusable(id: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use the AI SDK tool "${id}": ${why}`, {
    details: { reason: 'invalid_ai_tool' },
  });
}
