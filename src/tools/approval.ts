/** Which calls a person must approve, and what that person is shown: facts of the call, never words of the model. */

import type { ToolDefinition } from '../base/schema.ts';
import { type CallFact, callFacts, factLines } from './call-facts.ts';
import type { Tool } from './tool.ts';
import { visible } from './visible-text.ts';

/** Whether the definition wants every call, or every call that may change something, approved by a person. */
export function needsApproval({ approval = 'never', annotations }: ToolDefinition): boolean {
  return approval === 'always' || (approval === 'mutating' && annotations?.readOnlyHint !== true);
}

/** The description of a call for the person who approves it: as fields for a page, and as text. */
export interface CallDescription {
  readonly tool: string;
  /** Where the call goes, as the method and address of a request. */
  readonly target?: string;
  readonly fields: readonly CallFact[];
  /** Why a permission rule wants a person. */
  readonly rule?: string;
  /** Who decides in place of the owner. */
  readonly approvers?: readonly string[];
  /** Another person than the one who has asked must decide. */
  readonly fourEyes?: true;
}

/** Describes a call for the person who decides on it. */
export async function describeCall(
  { definition: { id, title, paramsSchema }, describe }: Tool,
  input: unknown,
  rule?: string,
): Promise<CallDescription> {
  return {
    tool: visible(title === undefined ? id : `${title} (${id})`),
    ...(describe && { target: visible(describe()) }),
    fields: await callFacts(input, paramsSchema),
    ...(rule !== undefined && { rule: visible(rule) }),
  };
}

/** The description as text. Every line starts with a fixed word or a quoted name, so no input can imitate another line. */
export function describedText({ tool, target, fields, rule }: CallDescription): string {
  return [
    `Call ${tool}`,
    ...(target === undefined ? [] : [target]),
    ...factLines(fields),
    ...(rule === undefined ? [] : [`Rule: ${rule}`]),
  ].join('\n');
}
