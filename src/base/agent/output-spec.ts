/** What the last answer of a run must be: JSON that fits a schema. */

import * as v from 'valibot';
import { JsonSchema } from '../record-fields.ts';

/** The answer as data. That `schema` is a JSON Schema is checked by `requireSchema`. */
export const OutputSpec = v.strictObject({
  schema: JsonSchema,
  /** A name for the model. */
  name: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"'))),
  /** Tells the model what the answer is for. */
  description: v.optional(v.pipe(v.string(), v.maxLength(4096))),
});
export type OutputSpec = v.InferOutput<typeof OutputSpec>;
