/** Reads schemas of libraries and plain JSON Schemas: as JSON Schema and as a check. */

import { checkBy } from '../json-schema/json-schema.ts';
import { isStandard, readStandard } from './read-standard.ts';
import type { ReadSchema } from './read-valibot.ts';
import type { AnySchema } from './schema-types.ts';

/** Reads a schema. Throws an `Error` that says why it cannot. */
export function readSchema(schema: AnySchema, side?: 'input' | 'output'): ReadSchema {
  return isStandard(schema) ? readStandard(schema, side) : { jsonSchema: schema, check: checkBy(schema) };
}
