/** Makes a tool of code that is data: it runs in the sandbox, and nowhere else. */

import * as v from 'valibot';
import { parse } from '../base/parse.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { checkBy } from './json-schema/json-schema.ts';
import type { PooledSandbox } from './pooled-sandbox.ts';
import type { Tool } from './tool.ts';

/** The `config` of a tool of type `code`. */
export const CodeToolConfig = v.strictObject({
  /** The body of an async function of `input`. */
  code: v.pipe(v.string(), v.minLength(1), v.maxLength(65_536)),
  timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30_000)), 5_000),
});

/**
 * Creates the tool.
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
