/** Which calls a person must approve, and what that person is shown: facts of the call, never words of the model. */

import { canonicalJson } from '../json.ts';
import type { ToolDefinition } from '../schema.ts';
import type { Tool } from './tool.ts';

/** Whether the definition wants every call, or every call that may change something, approved by a person. */
export function needsApproval({ approval = 'never', annotations }: ToolDefinition): boolean {
  return approval === 'always' || (approval === 'mutating' && annotations?.readOnlyHint !== true);
}

/** Describes a call for the person who decides on it: the tool and its input, one line for each field. */
export function describeCall({ definition: { id, title }, describe }: Tool, input: unknown): string {
  const name = title === undefined ? id : `${title} (${id})`;
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [['input', input] as const];
  const lines = fields.map(([key, value]) => `${key}: ${shorten(canonicalJson(value))}`);
  return [`Call ${name}`, ...(describe ? [describe()] : []), ...lines].join('\n');
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}… (${text.length} characters)` : text;
}
