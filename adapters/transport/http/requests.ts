/** The bodies of requests to operate an endpoint. */

import * as v from 'valibot';

/** What `POST /v1/invalidations` takes. */
export const Invalidation: v.GenericSchema<unknown, { keys: string[] }> = v.strictObject({
  keys: v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(300))), v.minLength(1), v.maxLength(1000)),
});

/** What `POST /v1/runs/:id/approvals/:approvalId` takes. */
export const ApprovalDecision: v.GenericSchema<unknown, { approved: boolean; reason?: string | undefined }> = v
  .strictObject({
    approved: v.boolean(),
    reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
  });

/** What `POST /v1/runs/:id/replies` takes. */
export const Reply: v.GenericSchema<unknown, { askId: string; answer: unknown }> = v.strictObject({
  askId: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  answer: v.unknown(),
});

/** What `POST /v1/prewarm` takes. */
export const Prewarm: v.GenericSchema<unknown, { agentIds: string[] }> = v.strictObject({
  agentIds: v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.minLength(1), v.maxLength(100)),
});
