/** Makes a tool of a schema of any library, or a JSON Schema, and a function. */

import { checkOptions, wrongArgument } from '../base/check-options.ts';
import { isRecord } from '../base/is-record.ts';
import { makeTool, type ToolOptions } from './make-tool.ts';
import { readSchema } from './schema/read-schema.ts';
import type { AnySchema, SchemaInput, SchemaOutput } from './schema/schema-types.ts';
import type { TypedTool } from './tool.ts';

export type { ToolOptions } from './make-tool.ts';

/** What `execute` may return for this schema of the output. */
type ResultOf<O> = [O] extends [AnySchema] ? SchemaInput<O> | Promise<SchemaInput<O>> : unknown;

/** What readers of the run receive. */
type OutputOf<R, O> = [O] extends [AnySchema] ? SchemaOutput<O> : Awaited<R>;

/**
 * Creates a tool whose input is checked by its schema and shown to models as JSON Schema.
 *
 * @throws PinnaceError `invalid_argument` for a part that is missing (reason `wrong_argument`), a definition that breaks its schema or an input that JSON Schema cannot express.
 * @example
 * const add = defineTool({
 *   id: 'add',
 *   description: 'Adds two numbers',
 *   input: z.strictObject({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 */
export function defineTool<
  const S extends AnySchema,
  const O extends AnySchema | undefined = undefined,
  R extends ResultOf<O> = ResultOf<O>,
  const Id extends string = string,
>(
  options: ToolOptions<S, O, R, Id>,
): TypedTool<Id, SchemaInput<S>, OutputOf<R, O>> {
  requireParts(options);
  return makeTool<S, O>(options, readSchema); // the types are what the schemas and `execute` say
}

/** Names what other libraries call otherwise. */
function requireParts(options: { readonly id?: unknown; readonly outputSchema?: unknown } | undefined): void {
  const action = typeof options?.id === 'string' ? `define tool "${options.id}"` : 'define a tool';
  checkOptions(action, options, {
    id: ['given', 'the name by which models call it', /^name$/],
    input: ['given', 'a schema of an object', /^(inputSchema|parameters|paramsSchema|schema|args)$/],
    execute: ['function', 'a function (input, context) => output', /^(func|fn|handler|run|call|invoke)$/],
  });
  const outputSchema = options?.outputSchema;
  if (!isRecord(outputSchema) || !('~standard' in outputSchema)) return;
  throw wrongArgument(action, 'outputSchema', '"outputSchema" takes a JSON Schema; rename it to "output"');
}
