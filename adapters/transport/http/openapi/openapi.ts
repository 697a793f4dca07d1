/** Describes the endpoint in OpenAPI 3.1, from the schemas that parse its requests. */

import { cacheKeyForms } from '../../../../src/log/cache-key.ts';
import { McpValidationRequest } from '../../../../src/contracts/mcp-validation.ts';
import { RunRequest } from '../../../../src/runtime/run-request.ts';
import { describeGrounding } from './grounding.ts';
import { ApprovalDecision, Invalidation, Prewarm, Reply } from '../requests.ts';
import { body, id as runId, type Json, json, nothing, operation, problem } from './parts.ts';
import { describePlans } from './plans.ts';
import { describeEvents } from './events.ts';
import { describeRegistry } from './registry.ts';

const stream: Json = { description: 'An event stream of UI message chunks', content: { 'text/event-stream': {} } };
const lastEventId: Json = { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } };
const key: Json = { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } };

/** Gives the description of the endpoint, with the registries, grounding and plans where it serves them. */
export function describeEndpoint(
  { registry, grounding, plans }: { readonly registry: boolean; readonly grounding: boolean; readonly plans: boolean },
): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Pinnace', version: '1', license: { name: 'MIT' } },
    paths: {
      '/v1/runs': {
        post: operation('Start a run', {
          parameters: [key],
          requestBody: body(RunRequest),
          responses: { 200: stream, 409: problem, 422: problem, default: problem },
        }),
      },
      '/v1/runs/{id}/stream': {
        get: operation('Resume or replay a run', {
          parameters: [runId, lastEventId],
          responses: { 200: stream, 204: nothing, 410: problem, default: problem },
        }),
      },
      '/v1/chats/{id}/stream': {
        get: operation("Replay the chat's running run", {
          parameters: [runId],
          responses: { 200: stream, 204: nothing, default: problem },
        }),
      },
      '/v1/runs/{id}': {
        get: operation('State of a run', { parameters: [runId], responses: { 200: json, default: problem } }),
        delete: operation('Cancel a run', { parameters: [runId], responses: { 202: nothing, default: problem } }),
      },
      '/v1/runs/{id}/approvals/{approvalId}': {
        post: operation('Decide on a tool call', {
          parameters: [runId, { ...runId, name: 'approvalId' }],
          requestBody: body(ApprovalDecision),
          responses: { 204: nothing, 409: problem, 410: problem, default: problem },
        }),
      },
      '/v1/runs/{id}/replies': {
        post: operation('Answer a question of a plan', {
          parameters: [runId],
          requestBody: body(Reply),
          responses: { 204: nothing, 409: problem, 410: problem, default: problem },
        }),
      },
      '/v1/agents/{id}/manifest': {
        get: operation('The tool set of an agent', { parameters: [runId], responses: { 200: json, default: problem } }),
      },
      '/v1/mcp-servers/{id}/validate': {
        post: operation('Look at what an MCP server offers, and pin it on approval', {
          parameters: [runId],
          requestBody: body(McpValidationRequest),
          responses: { 200: json, 404: problem, 409: problem, default: problem },
        }),
      },
      '/v1/invalidations': {
        post: operation(`Invalidate cached definitions on every instance. Keys: ${cacheKeyForms}`, {
          requestBody: body(Invalidation),
          responses: { 204: nothing, default: problem },
        }),
      },
      '/v1/prewarm': {
        post: operation('Load what the first runs of agents need; answers { warmed, failed }', {
          requestBody: body(Prewarm),
          responses: { 200: json, default: problem },
        }),
      },
      ...(registry && describeRegistry()),
      ...(grounding && describeGrounding()),
      ...(plans && describePlans()),
      ...describeEvents(),
      '/v1/metrics': { get: operation('Metrics for Prometheus', { responses: { 200: json, default: problem } }) },
      '/v1/healthz': { get: { summary: 'Alive', responses: { 200: json } } },
      '/v1/readyz': { get: { summary: 'Ready', responses: { 200: json, 503: json } } },
      '/v1/openapi.json': { get: { summary: 'This description', responses: { 200: json } } },
    },
    components: { schemas: { Problem: problemSchema }, securitySchemes: { gcSession } },
  };
}

const problemSchema: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable', 'serverTime', 'traceId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    retryable: { type: 'boolean' },
    retryAfterMs: { type: 'integer' },
    details: { type: 'object' },
    serverTime: { type: 'string', format: 'date-time' },
    traceId: { type: 'string' },
  },
};

const gcSession: Json = {
  type: 'http',
  scheme: 'GC-Session',
  description: 'A session certificate, and an HTTP message signature (RFC 9421) by the key that it names',
};
