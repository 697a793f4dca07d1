/** Checks the JSON Schemas that records and requests hold. */

import { PinnaceError } from '../../base/errors.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { compileJsonSchema } from './json-schema.ts';

/** The longest schema of an answer, as JSON. */
const mostOfOutput = 65_536;

/**
 * Checks a schema; a pattern that is refused is named by its place in the record.
 *
 * @throws PinnaceError `invalid_argument` as `compileJsonSchema` does.
 */
export function requireSchema(schema: JsonSchema, path: string): void {
  try {
    compileJsonSchema(schema);
  } catch (error) {
    if (!(error instanceof PinnaceError) || error.details?.['reason'] !== 'invalid_pattern') throw error;
    const { code, message, details } = error;
    const field = `/${path.replaceAll('.', '/')}${String(details['field'])}`;
    const issue = { path, field, reason: 'invalid_pattern', message: message.replace(/^[^:]*: /, 'is refused: ') };
    throw new PinnaceError(code, message, { details: { ...details, field, issues: [issue] }, cause: error });
  }
}

/** Checks the schema of an answer, which is sent with every model call. @throws PinnaceError as `requireSchema`, `schema_too_large`. */
export function requireOutputSchema(schema: JsonSchema): void {
  const { length } = JSON.stringify(schema);
  if (length > mostOfOutput) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot use the JSON Schema of the answer: it is ${length} long, ${mostOfOutput} is allowed`,
      { details: { reason: 'schema_too_large' } },
    );
  }
  requireSchema(schema, 'output.schema');
}
