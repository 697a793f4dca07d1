/** Makes a tool of a valibot schema and a function. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { jsonSchemaOf } from '../base/json-schema-of.ts';
import { parse, toIssue } from '../base/parse.ts';
import { ToolDefinition } from '../base/schema.ts';
import type { JsonSchema } from '../base/schema.ts';
import type { Tool, ToolContext } from './tool.ts';

type InputSchema = v.GenericSchema<unknown, unknown>;

/** What `defineTool` takes. All but the first four are as in the tool registry. */
export interface ToolOptions<S extends InputSchema>
  extends Partial<Omit<v.InferInput<typeof ToolDefinition>, 'id' | 'description' | 'paramsSchema'>> {
  readonly id: string;
  /** Says when to call the tool and what it returns. For the model. */
  readonly description: string;
  /**
   * A valibot schema of an object. `v.strictObject` refuses unknown keys. `v.object` drops them in a tool that only reads; in one that
   * may act they are refused. `v.looseObject` and `v.objectWithRest` permit them, and an approval shows them as not declared.
   */
  readonly input: S;
  readonly execute: (input: v.InferOutput<S>, context: ToolContext) => unknown;
}

/**
 * Creates a tool whose input is checked by valibot and shown to models as JSON Schema.
 *
 * @throws PinnaceError `invalid_argument` for a definition that breaks its schema or an input that JSON Schema cannot express.
 * @example
 * const add = defineTool({
 *   id: 'add',
 *   description: 'Adds two numbers',
 *   input: v.strictObject({ a: v.number(), b: v.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 */
export function defineTool<S extends InputSchema>({ input, execute, ...definition }: ToolOptions<S>): Tool {
  const paramsSchema = paramsSchemaOf(definition.id, input);
  return {
    definition: parse(
      ToolDefinition,
      { name: definition.id, type: 'function', ...definition, paramsSchema },
      { what: `the definition of tool "${definition.id}"` },
    ),
    check(value) {
      const result = v.safeParse(input, value);
      return result.success ? { ok: true, input: result.output } : { ok: false, issues: result.issues.map(toIssue) };
    },
    // `check` has returned the schema's output, and invokeTool passes only checked values.
    execute: (value, context) => execute(value, context),
  };
}

/** The JSON Schema that shows the input to models. */
export function paramsSchemaOf(toolId: string, input: InputSchema): JsonSchema {
  try {
    const schema = jsonSchemaOf(input);
    if (schema['type'] !== 'object') throw new TypeError('not an object');
    return schema;
  } catch (cause) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot define tool "${toolId}": its input must be a valibot object that JSON Schema can express`,
      { cause, details: { reason: 'invalid_schema' } },
    );
  }
}
