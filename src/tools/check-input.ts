/** Whether an input may go to a tool: it passes the tool's check, and a tool that may act gets no field that it does not declare. */

import { pathText } from '../base/parse.ts';
import { undeclaredField } from './declared-fields.ts';
import { mayAct } from './lost-call.ts';
import type { InputCheck, Tool } from './tool.ts';

/** The `details.reason` of a refusal for a field that the tool does not declare. */
export const undeclaredReason = 'undeclared_field';

/** The result of a check; `undeclared` names the field that the schema neither declares nor permits. */
export type CallCheck = InputCheck & { readonly undeclared?: true };

/** Checks an input. May throw what the tool's own check throws. */
export function checkCall(tool: Pick<Tool, 'definition' | 'check'>, input: unknown): CallCheck {
  const { definition } = tool;
  const checked = tool.check(input);
  if (!checked.ok || !mayAct(definition)) return checked;
  const path = undeclaredField(input, definition.paramsSchema);
  if (!path) return checked;
  return {
    ok: false,
    undeclared: true,
    issues: [{ path: pathText(path), message: 'is not declared by the tool' }],
  };
}
