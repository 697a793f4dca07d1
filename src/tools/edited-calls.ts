/**
 * Calls that a person has changed before approving them.
 *
 * - The decision is bound to the call as it was asked. What runs is the input of the person, checked like that of the model.
 * - The history is one true call: the stream shows the new input, and a part of the message keeps what was changed.
 * - The model reads the change before the result, on this turn and all later ones: the line is made of that part.
 */

import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson, pointerBelow } from '../base/json.ts';
import { invalid, pathText } from '../base/parse.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { type EditedInput, type Interruption, refusal } from '../permission/interruption.ts';
import { undeclaredField } from './input-fields.ts';
import { compileJsonSchema } from './json-schema/json-schema.ts';
import type { ToolCall } from './tool-call.ts';

/** A changed value: where, what it was and what it is. */
export interface CallEdit {
  /** As a JSON Pointer. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const mostEdits = 20;

/** The longest schema and input that a person may change, as JSON in UTF-16 code units. */
const longestSchema = 32_768;
const longestInput = 65_536;

/** What the person who must approve a call may change: an input that it sees as a whole. */
export function editOf(
  { tool: { definition }, input, terms }: Pick<ToolCall, 'tool' | 'input' | 'terms'>,
  redact: (data: unknown) => unknown,
): Interruption['edit'] {
  const { edit, paramsSchema: schema } = definition;
  if (edit === false || terms.edit === false || JSON.stringify(schema).length > longestSchema) return undefined;
  const text = canonicalJson(input);
  return text.length <= longestInput && canonicalJson(redact(input)) === text ? { input, schema } : undefined;
}

/**
 * Returns the changed input of a decision; `undefined` for one that changes nothing.
 *
 * @throws PinnaceError `invalid_argument`: `not_editable`, `edit_denied`, `input_too_large`, `invalid_data`, `undeclared_field`.
 */
export async function readEdit(
  edit: Interruption['edit'],
  { approved, input }: { readonly approved: boolean; readonly input?: unknown },
): Promise<EditedInput | undefined> {
  if (input === undefined) return undefined;
  if (!edit) throw refusedEdit('its input cannot be changed', 'not_editable');
  if (!approved) throw refusedEdit('a call that is denied has no input', 'edit_denied');
  const text = canonicalJson(input);
  if (text.length > longestInput) throw refusedEdit(`the input is longer than ${longestInput}`, 'input_too_large');
  const what = 'the changed input';
  const issues = await compileJsonSchema(edit.schema).inTurns(input);
  if (issues.length > 0) throw invalid(what, issues);
  const undeclared = undeclaredField(input, edit.schema);
  if (undeclared) {
    throw invalid(what, [{ path: pathText(undeclared), message: 'is not declared by the tool' }], 'undeclared_field');
  }
  const paths = editsOf(edit.input, input).map(({ path }) => path);
  return paths.length === 0 ? undefined : { input, digest: sha256Sync(text), paths };
}

function refusedEdit(why: string, reason: string): PinnaceError {
  return refusal('invalid_argument', `Cannot change the call: ${why}`, reason);
}

/** What differs between two inputs: the smallest parts of objects, and arrays as a whole. */
export function editsOf(before: unknown, after: unknown, path = ''): readonly CallEdit[] {
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => editsOf(before[name], after[name], pointerBelow(path, name)));
  }
  const isSame = before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after);
  if (isSame || (before === undefined && after === undefined)) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** The part of the message that keeps the change. */
export function editedChunk(
  toolCallId: string,
  edits: readonly CallEdit[],
): UIMessageChunk & { readonly type: 'data-edited-call' } {
  return { type: 'data-edited-call', id: toolCallId, data: { toolCallId, edits: edits.slice(0, mostEdits) } };
}

/** Reads such a part. */
export function readEdited(
  data: unknown,
): { readonly toolCallId: string; readonly edits: readonly CallEdit[] } | undefined {
  if (!isRecord(data)) return undefined;
  const { toolCallId, edits } = data;
  if (typeof toolCallId !== 'string' || !Array.isArray(edits)) return undefined;
  const read = edits.slice(0, mostEdits).filter((edit): edit is CallEdit & Record<string, unknown> =>
    isRecord(edit) && typeof edit['path'] === 'string'
  );
  return { toolCallId, edits: read.map(({ path, before, after }) => ({ path, before, after })) };
}

/** The result with the lines for the model before it. */
export function withEditLines<Output extends LanguageModelV4ToolResultPart['output']>(
  output: Output,
  edits: readonly CallEdit[],
) {
  const lines = edits.map(({ path, before, after }) =>
    `A person changed ${path === '' ? 'the input' : path} before approving: from ${shown(before)} to ${shown(after)}.`
  ).join('\n');
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${lines}\n\n${output.value}` };
    case 'json':
      return { type: 'text' as const, value: `${lines}\n\n${JSON.stringify(output.value)}` };
    default:
      return output;
  }
}

const longestValue = 500;

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}
