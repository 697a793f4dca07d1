/** From definitions to tools that can be called: HTTP requests, code in the sandbox, handlers, built-in tools, and sources of tools. */

import * as v from 'valibot';
import { checkNames, checkOptions, optional, wrongArgument } from '../base/check-options.ts';
import { fromData, PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { loadOnce } from '../base/load-once.ts';
import { parse } from '../base/parse.ts';
import { ToolDefinition } from '../base/schema.ts';
import type { Egress } from '../contracts/egress.ts';
import type { Report } from '../events/report.ts';
import type { Span } from '../events/span.ts';
import type { HttpToolOptions } from './call-http.ts';
import { createHandledTool, type Handlers } from './define-tool.ts';
import {
  HttpToolConfig,
  type HttpToolConfigInput,
  isReadOnly,
  needsApproval,
  secretNames,
  type TemplateValues,
  unreachableOrigin,
} from './http-config.ts';
import { requireDestinations } from './input-fields.ts';
import { checkBy } from './json-schema/json-schema.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';
import { createProviderTool } from './provider-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** What tools made of data work with. */
export interface Means {
  readonly egress: Egress | undefined;
  readonly sandbox: PooledSandbox | undefined;
  readonly handlers: Handlers;
  /** Receives why a definition is left out. */
  readonly report?: Report;
}

/**
 * Creates the tool; `undefined` for a type whose code is elsewhere, for a means that the runtime does not have, and for a
 * definition whose template or code is none: it must not take the other tools down.
 */
export function implement(
  { undoable: _, ...definition }: ToolDefinition,
  { egress, sandbox, handlers, report }: Means,
): Tool | undefined {
  try {
    // `createHttpTool` parses the config that the registry keeps as it is.
    if (definition.type === 'http' && egress) return createHttpTool(definition as HttpToolDefinition, { egress });
    if (definition.type === 'code' && sandbox) return createCodeTool(definition, { sandbox });
    if (definition.type === 'provider') return createProviderTool(definition);
    if (definition.type === 'function' || definition.type === 'extension') {
      return createHandledTool(definition, handlers);
    }
  } catch (error) {
    report?.(error, { kind: 'catalog', id: definition.id }); // the manifest only says that there is no implementation
  }
  return undefined;
}

/** The stored definition of a tool of type `http`. */
export type HttpToolDefinition =
  & Omit<v.InferInput<typeof ToolDefinition>, 'name' | 'type' | 'config'>
  & { readonly name?: string; readonly type?: 'http'; readonly config: HttpToolConfigInput };

const load = /* @__PURE__ */ loadOnce(() => import('./call-http.ts'));

/**
 * Creates a tool of type `http`. Whether a call needs an approval is decided elsewhere: see `needsApproval`.
 *
 * @throws PinnaceError `invalid_argument` for a definition, a schema or a template that is none, and for a template that uses a
 * secret which the definition does not list.
 */
export function createHttpTool(definition: HttpToolDefinition, options: HttpToolOptions): Tool {
  checkNames('define the tool', options, optional('egress', 'random', 'wait'));
  const what = `the definition of tool "${definition.id}"`;
  const named = { name: definition.id, type: 'http', ...definition, undoable: undefined };
  const parsed = requireDestinations(parse(ToolDefinition, named, { what }));
  const config = parse(HttpToolConfig, definition.config, { what: `the template of tool "${definition.id}"` });
  checkSecrets(parsed, config);
  checkOrigins(parsed, config, options);
  const check = checkBy(parsed.paramsSchema);
  return {
    definition: withPolicy(parsed, config),
    saysWho: true,
    secretOrigin: new URL(config.origin).origin,
    target: () => `${config.method} ${config.origin}${config.path}`,
    check: (value) =>
      isRecord(value) ? check(value) : { ok: false, issues: [{ path: '', message: 'must be an object' }] },
    // `check` has let nothing but objects through, and invokeTool calls nothing that was not checked.
    async execute(input, context) {
      const { callHttp } = await load();
      return await callHttp(config, input as TemplateValues['input'], { ...options, ...context });
    },
    ...(config.undo && {
      undo: {
        async execute(input, output, context) {
          const { undoHttp } = await load();
          return await undoHttp(config, { input: input as TemplateValues['input'], output }, {
            ...options,
            ...context,
          });
        },
      },
    }),
  };
}

/** Checks the HTTP tools of a catalog that never changes. @throws PinnaceError `invalid_argument` for the first that cannot work. */
export function requireReachableTools(definitions: readonly ToolDefinition[], egress: Egress): void {
  for (const definition of definitions) {
    if (definition.type === 'http') createHttpTool(definition as HttpToolDefinition, { egress }); // it parses the config
  }
}

/** The method decides what a call may do, whatever else the definition says. */
function withPolicy(definition: ToolDefinition, config: HttpToolConfig): ToolDefinition {
  const approval = needsApproval(config) ? 'always' : definition.approval ?? 'never';
  const annotations = { ...definition.annotations, readOnlyHint: isReadOnly(config) };
  return { ...definition, approval, annotations, ...(config.undo && { undoable: true }) };
}

function checkSecrets({ id, secrets }: ToolDefinition, config: HttpToolConfig): void {
  const missing = secretNames(config).find((name) => !secrets.some((secret) => secret.id === name));
  if (missing === undefined) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot define tool "${id}": its template uses the secret "${missing}", which its "secrets" must list`,
    { details: { reason: 'secret_not_listed' } },
  );
}

/** What the egress would refuse at each call is refused here, once. */
function checkOrigins({ id }: ToolDefinition, config: HttpToolConfig, { egress }: HttpToolOptions): void {
  const origin = unreachableOrigin(config, egress.privateOrigins);
  if (origin === undefined) return;
  const advice = `it is no public host; where it is yours, pass privateOrigins: [${JSON.stringify(origin)}]`;
  throw new PinnaceError('invalid_argument', `Cannot define tool "${id}" for ${JSON.stringify(origin)}: ${advice}`, {
    details: { reason: 'private_origin', origin },
  });
}

/** The `config` of a tool of type `code`. */
export const CodeToolConfig = v.strictObject({
  /** The body of an async function of `input`. */
  code: v.pipe(v.string(), v.minLength(1), v.maxLength(65_536)),
  timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30_000)), 5_000),
});

/**
 * Creates a tool of type `code`: it runs in the sandbox, and nowhere else.
 *
 * @throws PinnaceError `invalid_argument` for a config or a schema that is none.
 */
export function createCodeTool(definition: ToolDefinition, { sandbox }: { readonly sandbox: PooledSandbox }): Tool {
  const { code, timeoutMs } = parse(CodeToolConfig, definition.config ?? {}, {
    what: `the code of tool "${definition.id}"`,
  });
  return {
    definition,
    check: checkBy(definition.paramsSchema),
    execute: (input, { signal, principal, scope }) =>
      sandbox.run(code, { input, timeoutMs, signal, holder: { principal, scope } }),
  };
}

/** A tool that comes with the runtime. */
export interface Builtin {
  readonly id: string;
  /** The same tool each time. */
  readonly load: () => Promise<Tool>;
}

/** Returns the built-in tools: `current_time`, `calculator`, and where there are programs `code_run`. */
export function createBuiltins(
  { now, hasPrograms = false }: { readonly now: () => number; readonly hasPrograms?: boolean },
): readonly Builtin[] {
  return [
    ...(hasPrograms ? [builtin('code_run', async () => (await import('./builtin/code-run.ts')).codeRunTool())] : []),
    builtin('current_time', async () => (await import('./builtin/current-time.ts')).currentTimeTool({ now })),
    builtin('calculator', async () => (await import('./builtin/calculator.ts')).calculatorTool()),
  ];
}

function builtin(id: string, make: () => Promise<Tool>): Builtin {
  let tool: Promise<Tool> | undefined;
  return { id, load: () => tool ??= make() };
}

/** Tools with one way to call them. `call` never throws; a name that is not among the definitions is `not_found`. */
export interface ToolSource {
  readonly definitions: readonly ToolDefinition[];
  call(name: string, input: unknown, options?: ToolSourceCall): Promise<ToolOutcome>;
  /** Takes back a call of a tool whose definition is `undoable`. Never throws. */
  undo?(output: unknown, options?: ToolSourceCall): Promise<ToolOutcome>;
}

export interface ToolSourceCall {
  readonly signal?: AbortSignal;
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
    execute: async (input, { signal, span, report }) =>
      outputOf(await source.call(definition.name, input, { signal, span, report })),
    ...(definition.undoable && source.undo && {
      undo: {
        execute: async (_, output, { signal, span, report }) =>
          outputOf(await source.undo?.(output, { signal, span, report })),
      },
    }),
  }));
}

function outputOf(outcome: ToolOutcome | undefined): unknown {
  if (!outcome || outcome.ok) return outcome?.output;
  throw fromData(outcome.error);
}
