/** Tools from a third party's ESM module, and tools whose definition is data and whose code was given at composition. */

import { PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { defineTool } from './define-tool.ts';
import { checkBy } from './json-schema/json-schema.ts';
import type { Tool } from './tool.ts';

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
