/** Describes the routes of those who watch. */

import { jsonSchemaOf } from '../../src/json-schema-of.ts';
import { AuditQuery } from './http-audit.ts';
import { EventWatch } from './http-events.ts';
import { type Json, json, operation, problem } from './openapi-parts.ts';

const lastEventId: Json = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
const events: Json = {
  description:
    'Events, each with its id: `ready` first, `gap` where some are missing, and `live` before those that happen now',
  content: { 'text/event-stream': {} },
};

/** Gives the paths. */
export function describeEvents(): Json {
  return {
    '/v1/audit': {
      get: operation('Who did what', {
        parameters: queryParameters(AuditQuery),
        responses: { 200: json, 404: problem, default: problem },
      }),
    },
    '/v1/audit/verification': {
      get: operation('Whether the audit is whole', { responses: { 200: json, 404: problem, default: problem } }),
    },
    '/v1/events': {
      get: operation('Watch what happens', {
        parameters: [...queryParameters(EventWatch), lastEventId],
        responses: { 200: events, 429: problem, default: problem },
      }),
    },
  };
}

/** The fields of a query, from the schema that reads it. */
function queryParameters(schema: Parameters<typeof jsonSchemaOf>[0]): Json[] {
  const { properties = {} } = jsonSchemaOf(schema) as { properties?: Record<string, unknown> }; // JSON Schema of an object
  return Object.entries(properties).map(([name, field]) => ({ name, in: 'query', schema: field }));
}
