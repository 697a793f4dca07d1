/** Describes the routes of those who watch. */

import { jsonSchemaOf } from '../../../../src/base/json-schema-of.ts';
import { breakReasons } from '../../../../src/events/verify-chain.ts';
import { AuditQuery, VerificationQuery } from '../audit.ts';
import { EventWatch } from '../events.ts';
import { type Json, json, operation, problem } from './parts.ts';

const lastEventId: Json = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
const events: Json = {
  description:
    'Events, each with its id: `ready` first, `gap` where some are missing, and `live` before those that happen now',
  content: { 'text/event-stream': {} },
};

const head: Json = {
  type: 'object',
  description: 'The current end of the chain: store it elsewhere, and pass it as `seq` and `hash` later',
  properties: { seq: { type: 'integer' }, hash: { type: 'string' } },
  required: ['seq', 'hash'],
};

const verification: Json = {
  description: 'The result; where the audit is broken, with the number of the entry and the reason',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          ok: { type: 'boolean' },
          checked: { type: 'integer' },
          head,
          brokenAt: { type: 'integer' },
          reason: { enum: breakReasons },
          anchorExpired: { const: true },
        },
        required: ['ok', 'checked', 'head'],
      },
    },
  },
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
      get: operation('Whether the audit is whole, and still contains the anchor `seq` and `hash`', {
        parameters: queryParameters(VerificationQuery),
        responses: { 200: verification, 400: problem, 404: problem, default: problem },
      }),
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
