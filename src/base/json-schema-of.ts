/** Shows a valibot schema as JSON Schema: to models, in the registry and in the endpoint's description. */

import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import type { JsonSchema } from './schema.ts';

/**
 * Returns the JSON Schema of what the valibot schema accepts, or of what it returns. A loose object permits other fields explicitly: calls of tools rest on it.
 * Throws what valibot throws for what JSON Schema cannot express.
 */
export function jsonSchemaOf(
  schema: v.GenericSchema<unknown, unknown>,
  side: 'input' | 'output' = 'input',
): JsonSchema {
  const { $schema: _, ...shown } = toJsonSchema(schema, {
    typeMode: side,
    ignoreActions: ['check', 'finite'], // JSON has only finite numbers
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: true } : undefined,
  });
  return shown;
}
