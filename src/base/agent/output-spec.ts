/** What the last answer of a run must be: JSON that fits a schema. */

import * as v from 'valibot';
import { JsonSchema } from '../record-fields.ts';
import { otherNames } from './other-names.ts';

/** The answer as data. That `schema` is a JSON Schema is checked by `requireSchema`. */
export const OutputSpec = v.strictObject({
  schema: JsonSchema,
  name: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"'))),
  description: v.optional(v.pipe(v.string(), v.maxLength(4096))),
}, /* @__PURE__ */ otherNames({ schema: '{ schema }, with a JSON Schema' }));

/** What the model receives about an answer besides its schema. */
export interface OutputLabel {
  /** A name for the model: 1 to 64 letters, digits, `_` and `-`. */
  name?: string | undefined;
  /** Tells the model what the answer is for, up to 4,096 characters. */
  description?: string | undefined;
}

/** What the last answer of a run must be: JSON that fits a schema. */
export interface OutputSpec extends OutputLabel {
  /** A JSON Schema. */
  schema: JsonSchema;
}
