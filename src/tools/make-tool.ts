/** Makes tools of definitions, schemas and functions, for every way to read a schema. */

import type * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import { ToolDefinition } from '../base/schema.ts';
import type { ReadSchema } from './schema/read-valibot.ts';
import type { AnySchema, SchemaOutput } from './schema/schema-types.ts';
import type { Tool, ToolContext } from './tool.ts';

/** What `defineTool` takes. All but `id`, `description`, `input`, `output` and `execute` are as in the tool registry. */
export interface ToolOptions<
  S extends AnySchema,
  O extends AnySchema | undefined = undefined,
  R = unknown,
  Id extends string = string,
> extends Partial<Omit<v.InferInput<typeof ToolDefinition>, 'id' | 'description' | 'paramsSchema'>> {
  /** The name that the model calls and `entryTools` lists: up to 64 letters, digits, `_` and `-`. */
  readonly id: Id;
  /** Says when to call the tool and what it returns. For the model. */
  readonly description: string;
  /**
   * A schema of an object, of Zod 4.2 or later, Valibot, ArkType or another library with Standard JSON Schema, or a plain JSON Schema
   * with `type: 'object'`. Fields that it does not declare are refused in a tool that may act, unless it permits them explicitly (as
   * `v.looseObject` and `z.looseObject` do; an approval shows them as not declared). A tool that only reads does with them what the
   * schema says.
   */
  readonly input: S;
  /** What `execute` returns: it is checked, types the result, and becomes the `outputSchema` of the definition. */
  readonly output?: O;
  /**
   * Runs a call, after its input was checked. What it returns is the result, as JSON; what it throws fails the call and not the run.
   * Stop when `context.signal` aborts.
   */
  readonly execute: (input: SchemaOutput<S>, context: ToolContext) => R;
}

/** Reads a schema. Throws what it cannot be read for. */
type Read<S> = (schema: S, side?: 'input' | 'output') => ReadSchema;

/** Creates a tool. @throws PinnaceError `invalid_argument` for a definition that breaks its schema, and as `readOf`. */
export function makeTool<S extends AnySchema, O extends AnySchema | undefined>(
  { input, output, execute, ...definition }: ToolOptions<S, O>,
  read: Read<S | NonNullable<O>>,
): Tool {
  const { id } = definition;
  const { jsonSchema: paramsSchema, check } = readOf(id, input, { read });
  const result = output && readOf(id, output, { read, side: 'output' });
  return {
    definition: parse(
      ToolDefinition,
      { name: id, type: 'function', ...(result && { outputSchema: result.jsonSchema }), ...definition, paramsSchema },
      { what: `the definition of tool "${id}"` },
    ),
    check,
    // `check` has returned the schema's output, and invokeTool passes only checked values.
    execute(value, context) {
      const returned = execute(value as SchemaOutput<S>, context);
      return result ? checkResult(id, result, returned) : returned;
    },
  };
}

async function checkResult(toolId: string, { check }: ReadSchema, returned: unknown): Promise<unknown> {
  const checked = await check(await returned);
  if (checked.ok) return checked.input;
  const { issues } = checked;
  throw new PinnaceError('internal', `Tool "${toolId}" returned what its output schema does not accept`, {
    details: { reason: 'invalid_output', issues },
  });
}

/**
 * Reads a schema of a tool.
 *
 * @throws PinnaceError `invalid_argument` for what is no schema, an input that is no object, and what JSON Schema cannot express.
 */
export function readOf<S>(
  toolId: string,
  schema: S,
  { read, side = 'input' }: { readonly read: Read<S>; readonly side?: 'input' | 'output' },
): ReadSchema {
  try {
    const found = read(schema, side);
    if (side === 'input' && found.jsonSchema['type'] !== 'object') throw new TypeError('it must describe an object');
    return found;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new PinnaceError(
      'invalid_argument',
      `Cannot define tool "${toolId}": its ${side} must be a schema of Zod 4.2 or later, Valibot, ArkType, or a JSON Schema: ${why}`,
      { cause, details: { reason: 'invalid_schema' } },
    );
  }
}
