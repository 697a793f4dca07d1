/** The input with which a person approves a call in place of the model's: checked at once, and again when the call is made. */

import { PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import { invalid, pathText } from '../base/parse.ts';
import type { EditedInput, Interruption } from '../permission/interruption.ts';
import type { InboxDecision } from '../runtime/inbox.ts';
import { editsOf } from '../runtime/edited-calls.ts';
import { undeclaredField } from '../tools/input-fields.ts';
import { compileJsonSchema } from '../tools/json-schema/json-schema.ts';

/** The longest input, as JSON in UTF-16 code units. */
const longestInput = 65_536;

/**
 * Returns the changed input of a decision; `undefined` for one that changes nothing.
 *
 * @throws PinnaceError `invalid_argument`: `not_editable`, `edit_denied`, `input_too_large`, `invalid_data`, `undeclared_field`.
 */
export async function readEdit(
  { edit }: Interruption,
  { approved, input }: InboxDecision,
): Promise<EditedInput | undefined> {
  if (input === undefined) return undefined;
  if (!edit) throw refused('its input cannot be changed', 'not_editable');
  if (!approved) throw refused('a call that is denied has no input', 'edit_denied');
  const text = canonicalJson(input);
  if (text.length > longestInput) throw refused(`the input is longer than ${longestInput}`, 'input_too_large');
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

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot change the call: ${why}`, { details: { reason } });
}
