/** What descriptions of routes are made of. */

import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';

/** A part of a description. */
export type Json = Readonly<Record<string, unknown>>;

/** An answer that is a problem. */
export const problem: Json = {
  description: 'A problem (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** An answer without content. */
export const nothing: Json = { description: 'Done, or nothing left' };

/** An answer of JSON. */
export const json: Json = { description: 'The answer', content: { 'application/json': {} } };

/** The id in a path. */
export const id: Json = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

/** Describes what only a verified caller may do. */
export function operation(summary: string, facts: Json): Json {
  return { summary, security: [{ gcSession: [] }], ...facts };
}

/** Describes a body from the schema that parses it. */
export function body(schema: Parameters<typeof jsonSchemaOf>[0]): Json {
  return { required: true, content: { 'application/json': { schema: jsonSchemaOf(schema) } } };
}
