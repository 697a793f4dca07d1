/** Reads schemas of valibot: as JSON Schema and as a check. */

import * as v from 'valibot';
import { jsonSchemaOf } from '../../base/json-schema-of.ts';
import { toIssue } from '../../base/parse.ts';
import type { JsonSchema } from '../../base/schema.ts';
import type { Tool } from '../tool.ts';

/** A schema that was read. */
export interface ReadSchema {
  readonly jsonSchema: JsonSchema;
  /** Throws a `PinnaceError` `internal` for a schema that can only be checked asynchronously. */
  readonly check: Tool['check'];
}

/** Reads a schema. Throws what valibot throws for what JSON Schema cannot express. */
export function readValibot(schema: v.GenericSchema<unknown, unknown>, side?: 'input' | 'output'): ReadSchema {
  return {
    jsonSchema: jsonSchemaOf(schema, side),
    check(value) {
      const result = v.safeParse(schema, value);
      return result.success ? { ok: true, input: result.output } : { ok: false, issues: result.issues.map(toIssue) };
    },
  };
}
