/** Makes tools of definitions, schemas and functions, for every way to read a schema. */

import * as v from 'valibot';
import type { StandardSchema } from '../base/model-settings.ts';
import { PinnaceError } from '../base/errors.ts';
import { jsonSchemaOf } from '../base/json-schema-of.ts';
import { isObjectSchema } from '../base/object-schema.ts';
import { parse, toIssue } from '../base/parse.ts';
import { type JsonSchema, ToolDefinition } from '../base/schema.ts';
import { requireDestinations } from './input-fields.ts';
import type { CallPreview, PreviewContext, Tool, ToolContext, ToolUndo } from './tool.ts';

/**
 * A schema of Zod 4.2 or later, Valibot, ArkType or another library with Standard Schema and Standard JSON Schema, or a plain
 * JSON Schema.
 */
export type AnySchema = StandardSchema | JsonSchema;

/** The values that a schema accepts. */
export type SchemaInput<S> = S extends StandardSchema ? Types<S>['input'] : JsonValueOf<S>;

/** The values that a schema returns: with defaults and transformations applied. */
export type SchemaOutput<S> = S extends StandardSchema ? Types<S>['output'] : JsonValueOf<S>;

type Types<S extends StandardSchema> = NonNullable<S['~standard']['types']>;

/** The values of a JSON Schema that is written as a literal; `unknown` where the type does not follow it. */
type JsonValueOf<S> = S extends { readonly const: infer C } ? C
  : S extends { readonly enum: readonly (infer E)[] } ? E
  : S extends { readonly anyOf: readonly (infer A)[] } ? JsonValueOf<A>
  : S extends { readonly oneOf: readonly (infer A)[] } ? JsonValueOf<A>
  : S extends { readonly type: infer T } ? OfType<T, S>
  : unknown;

type OfType<T, S> = T extends readonly (infer One)[] ? OfType<One, S>
  : T extends 'string' ? string
  : T extends 'number' | 'integer' ? number
  : T extends 'boolean' ? boolean
  : T extends 'null' ? null
  : T extends 'array' ? (S extends { readonly items: infer I } ? JsonValueOf<I>[] : unknown[])
  : T extends 'object' ? ObjectOf<S>
  : unknown;

type ObjectOf<S> = S extends { readonly properties: infer P } ? Shown<
    & { [K in keyof P as K extends RequiredOf<S> ? K : never]: JsonValueOf<P[K]> }
    & { [K in keyof P as K extends RequiredOf<S> ? never : K]?: JsonValueOf<P[K]> }
  >
  : S extends { readonly additionalProperties: infer A extends object } ? Record<string, JsonValueOf<A>>
  : Record<string, unknown>;

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

/** Shows an intersection as one object in editors. */
type Shown<T> = { [K in keyof T]: T[K] };

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

/** What `defineTool` takes. All but `id`, `description`, `input`, `output` and `execute` are as in the tool registry. */
export interface ToolOptions<
  S extends AnySchema,
  O extends AnySchema | undefined = undefined,
  R = unknown,
  Id extends string = string,
> extends Partial<Omit<v.InferInput<typeof ToolDefinition>, 'id' | 'description' | 'paramsSchema' | 'undoable'>> {
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
  /**
   * Returns what a person who must approve a call is shown of it: the thing that it is about, and what changes. Only reads, within two
   * seconds. Is called again before the call is made: when it returns something else, the person is asked anew.
   *
   * @example
   * describe: async ({ noteId }) => ({ quote: (await notes.get(noteId)).text })
   */
  describe?(this: void, input: SchemaOutput<S>, context: PreviewContext): CallPreview | Promise<CallPreview>;
  /**
   * How a person takes a call back (`runtime.undo`). Write it below `execute`, whose result types `output`. People who approve a call
   * of a tool without it read that it cannot be undone.
   *
   * @example
   * undo: { execute: (input, { id }) => notes.delete(id) }
   */
  readonly undo?: ToolUndo<SchemaOutput<S>, O extends AnySchema ? SchemaOutput<O> : Awaited<NoInfer<R>>>;
}

/** Reads a schema. Throws what it cannot be read for. */
type Read<S> = (schema: S, side?: 'input' | 'output') => ReadSchema;

/** Creates a tool. @throws PinnaceError `invalid_argument` for a definition that breaks its schema, and as `readOf`. */
export function makeTool<S extends AnySchema, O extends AnySchema | undefined>(
  { input, output, execute, describe, undo, ...definition }: ToolOptions<S, O>,
  read: Read<S | NonNullable<O>>,
): Tool {
  const { id } = definition;
  const { jsonSchema: paramsSchema, check } = readOf(id, input, { read });
  const result = output && readOf(id, output, { read, side: 'output' });
  return {
    definition: requireDestinations(parse(
      ToolDefinition,
      {
        name: id,
        type: 'function',
        ...(result && { outputSchema: result.jsonSchema }),
        ...definition,
        ...(undo && { undoable: true }),
        paramsSchema,
      },
      { what: `the definition of tool "${id}"` },
    )),
    check,
    ...(describe && {
      // `previewCall` passes only checked values.
      describe: (value, context) => describe(value as SchemaOutput<S>, context),
    }),
    // `check` has returned the schema's output, and invokeTool passes only checked values.
    execute(value, context) {
      const returned = execute(value as SchemaOutput<S>, context);
      return result ? checkResult(id, result, returned) : returned;
    },
    ...(undo && { undo }), // it gets what passed the check, and what `execute` returned
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
function readOf<S>(
  toolId: string,
  schema: S,
  { read, side = 'input' }: { readonly read: Read<S>; readonly side?: 'input' | 'output' },
): ReadSchema {
  try {
    const found = read(schema, side);
    if (side === 'output' || found.jsonSchema['type'] === 'object') return found;
    if (!isObjectSchema(found.jsonSchema)) throw new TypeError('it must describe an object');
    return { ...found, jsonSchema: { type: 'object', ...found.jsonSchema } };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new PinnaceError(
      'invalid_argument',
      `Cannot define tool "${toolId}": its ${side} must be a schema of Zod 4.2 or later, Valibot, ArkType, or a JSON Schema: ${why}`,
      { cause, details: { reason: 'invalid_schema' } },
    );
  }
}

type ValibotSchema = v.GenericSchema<unknown, unknown>;

/** Creates a tool as `defineTool` does. */
export function defineValibotTool<S extends ValibotSchema>(options: ToolOptions<S>): Tool {
  return makeTool<S, undefined>(options, readValibot);
}

/** The JSON Schema that shows the input to models. */
export function paramsSchemaOf(toolId: string, input: ValibotSchema): JsonSchema {
  return readOf(toolId, input, { read: readValibot }).jsonSchema;
}

export interface ReadSchema {
  readonly jsonSchema: JsonSchema;
  /** Throws a `PinnaceError` `internal` for a schema that can only be checked asynchronously. */
  readonly check: Tool['check'];
}

/** Reads a schema. Throws what valibot throws for what JSON Schema cannot express. */
export function readValibot(schema: v.GenericSchema<unknown, unknown>, side?: 'input' | 'output'): ReadSchema {
  return {
    jsonSchema: jsonSchemaOf(schema, side),
    check(value) {
      const result = v.safeParse(schema, value);
      return result.success ? { ok: true, input: result.output } : { ok: false, issues: result.issues.map(toIssue) };
    },
  };
}
