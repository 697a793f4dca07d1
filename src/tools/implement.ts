/** From a definition to a tool that can be called, for the types whose work is data. */

import type { Egress } from '../contracts/egress.ts';
import type { Report } from '../events/report.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { createCodeTool } from './code-tool.ts';
import { createHandledTool, type Handlers } from './extension.ts';
import { createHttpTool, type HttpToolDefinition } from './http/http-tool.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';
import type { Tool } from './tool.ts';

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
export function implement(definition: ToolDefinition, { egress, sandbox, handlers, report }: Means): Tool | undefined {
  try {
    // `createHttpTool` parses the config that the registry keeps as it is.
    if (definition.type === 'http' && egress) return createHttpTool(definition as HttpToolDefinition, { egress });
    if (definition.type === 'code' && sandbox) return createCodeTool(definition, { sandbox });
    if (definition.type === 'function' || definition.type === 'extension') {
      return createHandledTool(definition, handlers);
    }
  } catch (error) {
    report?.(error, { kind: 'catalog', id: definition.id }); // the manifest only says that there is no implementation
  }
  return undefined;
}
