/** Reads schemas of libraries and plain JSON Schemas: as JSON Schema and as a check. */

import { checkBy } from '../json-schema/json-schema.ts';
import { isStandard, readStandard } from './read-standard.ts';
import type { ReadSchema } from './read-valibot.ts';
import type { AnySchema } from './schema-types.ts';

/** Reads a schema. Throws an `Error` that says why it cannot. */
export function readSchema(schema: AnySchema, side?: 'input' | 'output'): ReadSchema {
  if (isStandard(schema)) return readStandard(schema, side);
  if (Object.values(schema ?? {}).some(isStandard)) {
    throw new TypeError('it is a list of fields; wrap it, as z.object({ … })');
  }
  return { jsonSchema: schema, check: checkBy(schema) };
}
