/** Makes tools of a schema of any library, or a JSON Schema, and a function: of this package, of the AI SDK, and of extension modules. */

import * as v from 'valibot';
import type { StandardResult, StandardSchema } from '../base/model-settings.ts';
import { checkKnownOptions, checkOptions, suggest, wrongArgument } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { type Issue, parse, pathText, toIssue, unknownField } from '../base/parse.ts';
import { type JsonSchema, ToolDefinition } from '../base/schema.ts';
import { checkBy } from './json-schema/json-schema.ts';
import {
  type AnySchema,
  makeTool,
  paramsSchemaOf,
  type ReadSchema,
  readValibot,
  type SchemaInput,
  type SchemaOutput,
  type ToolOptions,
} from './make-tool.ts';
import { createProviderTool } from './provider-tool.ts';
import type { CallPreview, InputCheck, PreviewContext, Tool, ToolContext, TypedTool } from './tool.ts';

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
function requireParts(
  options: { readonly id?: unknown; readonly outputSchema?: unknown; readonly undo?: unknown } | undefined,
): void {
  const action = typeof options?.id === 'string' ? `define tool "${options.id}"` : 'define a tool';
  checkOptions(action, options, {
    id: ['given', 'the name by which models call it', /^name$/],
    input: ['given', 'a schema of an object', /^(inputSchema|parameters|paramsSchema|schema|args)$/],
    execute: ['function', 'a function (input, context) => output', /^(func|fn|handler|run|call|invoke)$/],
    describe: ['function?', 'a function (input, context) => { quote }'],
    undo: ['object?', '{ execute }'],
  });
  if (options?.undo !== undefined) {
    checkKnownOptions(`${action}, "undo"`, options.undo, {
      execute: ['function', 'a function (input, output, context) => result'],
      describe: ['function?', 'a function (input, output, context) => { quote }'],
    });
  }
  const outputSchema = options?.outputSchema;
  if (!isRecord(outputSchema) || !('~standard' in outputSchema)) return;
  throw wrongArgument(action, 'outputSchema', '"outputSchema" takes a JSON Schema; rename it to "output"');
}

/** Reads a schema. Throws an `Error` that says why it cannot. */
function readSchema(schema: AnySchema, side?: 'input' | 'output'): ReadSchema {
  if (isStandard(schema)) return readStandard(schema, side);
  if (Object.values(schema ?? {}).some(isStandard)) {
    throw new TypeError('it is a list of fields; wrap it, as z.object({ … })');
  }
  return { jsonSchema: schema, check: checkBy(schema) };
}

/** Whether it is a schema of a library; a schema of ArkType is a function. */
export function isStandard(schema: unknown): schema is StandardSchema {
  return ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') && '~standard' in schema;
}

/**
 * Reads a schema. `side` says which side of its transformations the JSON Schema shows. Throws an `Error` that says why JSON Schema
 * cannot.
 */
export function readStandard(schema: StandardSchema, side: 'input' | 'output' = 'input'): ReadSchema {
  const { vendor, jsonSchema, validate } = schema['~standard'];
  if (jsonSchema) {
    const { $schema: _, ...shown } = jsonSchema[side]({ target: 'draft-2020-12' });
    return {
      jsonSchema: shown,
      check(value) {
        const result = validate(value);
        if (result instanceof Promise) throw asynchronous();
        return result.issues ? { ok: false, issues: issuesOf(result) } : { ok: true, input: result.value };
      },
    };
  }
  if (vendor === 'valibot') return readValibot(schema as unknown as v.GenericSchema, side); // its own, as it says
  throw new TypeError('its library does not show it as JSON Schema (Zod does from 4.2)');
}

function asynchronous(): PinnaceError {
  return new PinnaceError('internal', 'Cannot check the value: its schema is asynchronous; check it in the tool', {
    details: { reason: 'async_schema' },
  });
}

/** What is wrong with a value, without the value: libraries append what they received. What they expected comes from the schema. */
export function issuesOf({ issues = [] }: StandardResult<unknown>): readonly Issue[] {
  return issues.flatMap(({ message, path = [], keys }) => {
    const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
    if (keys) return keys.map((key) => ({ path: pathText([...names, String(key)]), message: unknownField })); // of Zod
    return [{ path: pathText(names), message: wordsOf(message) }];
  }).slice(0, 20);
}

function wordsOf(message: string): string {
  return /(?:\b(?:must|is|has|expected) |^Too |^Invalid ).*/is.exec(message)?.[0]
    .replace(/ \(was .*$|,? (?:but )?(?:received|got|actual) .*$/s, '').slice(0, 200) ?? 'is not valid';
}

/**
 * Returns a tool whose definition is data and whose input is fixed by its type. Models see the schema of the definition, which can
 * only narrow the input; where it declares no properties, they see the schema of the type.
 */
export function toolOver<S extends v.GenericSchema<unknown, unknown>>(
  definition: ToolDefinition,
  input: S,
  execute: (input: v.InferOutput<S>, context: ToolContext) => unknown,
): Tool {
  const declares = Object.keys(definition.paramsSchema['properties'] ?? {}).length > 0;
  const paramsSchema = declares ? definition.paramsSchema : paramsSchemaOf(definition.id, input);
  const checkDeclared = checkBy(paramsSchema);
  return {
    definition: { ...definition, paramsSchema },
    check: (value) =>
      onChecked(checkDeclared(value), (declared) => {
        if (!declared.ok) return declared;
        const result = v.safeParse(input, declared.input);
        return result.success ? { ok: true, input: result.output } : { ok: false, issues: result.issues.map(toIssue) };
      }),
    // `check` has returned the schema's output.
    execute: (value, context) => execute(value, context),
  };
}

/** Goes on with what a check has found: at once, unless it took turns. */
export function onChecked(
  checked: InputCheck | Promise<InputCheck>,
  go: (checked: InputCheck) => InputCheck,
): InputCheck | Promise<InputCheck> {
  return checked instanceof Promise ? checked.then((found) => go(found)) : go(checked);
}

/** What an extension module exports. */
export interface ExtensionModule {
  /** Returns the module's tools, made with the function that it receives. */
  readonly register: (host: { readonly defineTool: typeof defineTool }) => readonly Tool[] | Promise<readonly Tool[]>;
}

/**
 * Returns the tools that a module registers, marked as an extension's.
 *
 * @throws PinnaceError `invalid_argument` for a module without `register`, and for anything among its tools that is none.
 * @example
 * const tools = await loadExtension(await import('./my-extension.ts'));
 */
export async function loadExtension(module: ExtensionModule): Promise<readonly Tool[]> {
  if (typeof module?.register !== 'function') throw notAnExtension('it exports no function "register"');
  const tools: unknown = await module.register({ defineTool });
  if (!Array.isArray(tools) || !tools.every(isTool)) {
    throw notAnExtension('"register" must give tools made with defineTool');
  }
  return tools.map((tool): Tool => ({ ...tool, definition: { ...tool.definition, type: 'extension' } }));
}

function isTool(tool: unknown): tool is Tool {
  const { definition, check, execute } = (tool ?? {}) as Partial<Tool>; // each part is looked at before it is believed
  return typeof definition?.id === 'string' && typeof check === 'function' && typeof execute === 'function';
}

function notAnExtension(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot load the extension: ${why}`, {
    details: { reason: 'not_an_extension' },
  });
}

/** Code by the name that definitions call it by in `config.handler`. */
export type Handlers = Readonly<Record<string, Tool['execute']>>;

/** Returns the tool of a definition whose code is among the handlers; `undefined` when it is not. */
export function createHandledTool(definition: ToolDefinition, handlers: Handlers): Tool | undefined {
  const handler = definition.config?.['handler'];
  if (typeof handler !== 'string' || !Object.hasOwn(handlers, handler)) return undefined;
  const execute = handlers[handler];
  if (!execute) return undefined;
  return {
    definition,
    check: checkBy(definition.paramsSchema),
    execute,
  };
}

/** The error of a definition whose code the composition does not have; `undefined` where it has, and where none is needed. */
export function unknownHandler(
  action: string,
  { id, type, config }: ToolDefinition,
  handlers: Handlers,
): PinnaceError | undefined {
  if (type !== 'function' && type !== 'extension') return undefined;
  const handler = config?.['handler'];
  if (typeof handler === 'string' && Object.hasOwn(handlers, handler)) return undefined;
  const names = Object.keys(handlers);
  const suggestions = typeof handler === 'string' ? suggest(handler, names) : [];
  const known = suggestions[0] === undefined
    ? `there are ${names.slice(0, 20).join(', ') || 'none'}`
    : `use "${suggestions[0]}"`;
  const why = typeof handler === 'string'
    ? `names the handler "${handler}", which createRuntime({ handlers }) does not have; ${known}`
    : 'has no code: pass it in "tools", or name a function of "handlers" as config.handler';
  return new PinnaceError('invalid_argument', `Cannot ${action}: tool "${id}" of type "${type}" ${why}`, {
    details: { reason: 'unknown_handler', field: 'handler', suggestions },
  });
}

/** The parts of an AI SDK tool that are used; what `tool()` and `dynamicTool()` return has them. */
export interface AiTool {
  readonly type?: 'function' | 'dynamic' | 'provider' | undefined;
  readonly description?: unknown;
  readonly title?: string | undefined;
  readonly inputSchema: unknown;
  readonly needsApproval?: unknown;
  readonly execute?: unknown;
  /** Of a tool of a provider: what it is there, how it is configured, and whether the provider executes it. */
  readonly id?: string | undefined;
  readonly args?: unknown;
  readonly isProviderExecuted?: boolean | undefined;
}

/** What the AI SDK's tools do not say: annotations, limits, secrets, and whatever is to replace what they say. */
export interface FromAiToolOptions
  extends Partial<Omit<ToolOptions<JsonSchema>, 'id' | 'input' | 'output' | 'outputSchema' | 'execute' | 'describe'>> {
  /** As of `defineTool`. */
  describe?(this: void, input: unknown, context: PreviewContext): CallPreview | Promise<CallPreview>;
  /** The `context` that `execute` gets, such as a connection. */
  readonly context?: unknown;
}

/**
 * Creates a tool from one of the AI SDK, for `createRuntime({ tools })`. `needsApproval: true` becomes `approval: 'always'`. `execute` gets
 * `toolCallId`, `abortSignal` and `context`, and no `messages`. Of an async iterable the last value is the output. Models receive
 * the output itself: `toModelOutput`, `providerOptions` and the `onInput…` callbacks are not used. A tool that its provider executes, such
 * as `anthropic.tools.webSearch_20250305()`, is declared to models of that provider, and refused for all others.
 *
 * @param id The tool's id and name, as its key in a `ToolSet`.
 * @throws PinnaceError `invalid_argument` for a tool without `execute` that no provider executes, for a description or `needsApproval` that is a
 * function (set `description` or `approval` in the options), and for an input that JSON Schema cannot express.
 * @example
 * const tools = Object.entries(toolSet).map(([id, one]) => fromAiTool(id, one));
 */
export function fromAiTool<const Id extends string, T extends AiTool>(
  id: Id,
  tool: T,
  { context, ...options }: FromAiToolOptions = {},
): TypedTool<Id, InputOf<T>, AiOutputOf<T>> {
  checkOptions('use a tool of the AI SDK', { id, tool }, {
    id: ['text', 'its id first: fromAiTool("add", tool)'],
    tool: ['object', 'the tool: fromAiTool("add", tool({ … }))'],
  });
  const { description, inputSchema, needsApproval, title, type, execute }: AiTool = tool;
  if (type === 'provider' && tool.isProviderExecuted === true) {
    return ofProvider(id, tool, options);
  }
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
  }) as TypedTool<Id, InputOf<T>, AiOutputOf<T>>; // as the types of the AI SDK say
}

function ofProvider(
  id: string,
  { id: own = '', args, title, needsApproval }: AiTool,
  { describe: _, ...options }: Omit<FromAiToolOptions, 'context'>,
): Tool {
  const definition = {
    name: id,
    title,
    description: `Runs at the provider: ${own}`,
    paramsSchema: { type: 'object' },
    ...(needsApproval !== undefined && needsApproval !== false && { approval: 'always' as const }),
    ...options,
    id,
    type: 'provider',
    config: { id: own, args },
  };
  return createProviderTool(parse(ToolDefinition, definition, { what: `the definition of tool "${id}"` }));
}

type InputOf<T> = T extends { readonly execute?: ((input: infer I, ...rest: never) => unknown) | undefined } ? I
  : unknown;

type AiOutputOf<T> = T extends { readonly execute?: ((...input: never) => infer R) | undefined } ? ValueOf<R> : unknown;

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
