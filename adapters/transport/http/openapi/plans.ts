/** Describes the routes of plans in OpenAPI. */

import { PlanCancellation } from '../plans.ts';
import { body, id, type Json, json, nothing, operation, problem } from './parts.ts';

const answers: Json = { 202: nothing, 404: problem, default: problem };

/** Gives the paths. */
export function describePlans(): Json {
  return {
    '/v1/plans/{id}': {
      get: operation('State of a plan, with its tasks as data-plan shows them', {
        parameters: [id],
        responses: { 200: json, 404: problem, default: problem },
      }),
    },
    '/v1/plans/{id}/pause': {
      post: operation('Start no more activities of a plan', { parameters: [id], responses: answers }),
    },
    '/v1/plans/{id}/resume': {
      post: operation('Let a plan that was paused go on', { parameters: [id], responses: answers }),
    },
    '/v1/plans/{id}/cancel': {
      post: operation('Cancel a plan, or one of its agents with all below it', {
        parameters: [id],
        requestBody: { ...body(PlanCancellation), required: false },
        responses: answers,
      }),
    },
  };
}
