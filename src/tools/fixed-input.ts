/** Tools whose definition is data and whose input is fixed by their type. */

import * as v from 'valibot';
import { toIssue } from '../base/parse.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { paramsSchemaOf } from './valibot-tool.ts';
import { checkBy } from './json-schema/json-schema.ts';
import type { InputCheck, Tool, ToolContext } from './tool.ts';

/**
 * Returns the tool. Models see the schema of the definition, which can only narrow the input; where it declares no properties, they
 * see the schema of the type.
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
