/** The routes that take back what a run has done: look first, then confirm by the digest of what was seen. */

import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import type { UndoPreview, UndoReport } from '../../../../src/runtime/undo-types.ts';
import type { Served } from '../authentication.ts';
import { ErrorData, json, named, type Operations, shapeOf } from '../operation.ts';
import { readAs } from '../request.ts';

const Step = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000));

const PreviewQuery = v.strictObject({
  toStep: v.optional(v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a number'), v.transform(Number))),
});

const Confirmed: v.GenericSchema<unknown, { toStep?: number | undefined; digest: string }> = v.strictObject({
  toStep: v.optional(Step),
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the digest of a preview')),
});

const UndoCall = v.object({
  toolCallId: v.string(),
  step: v.number(),
  tool: v.string(),
  title: v.string(),
  can: v.picklist(['yes', 'no', 'nothing']),
  why: v.optional(v.string()),
  quote: v.optional(v.string()),
  changes: v.optional(v.array(v.object({ label: v.string(), before: v.string(), after: v.string() }))),
  moreChanges: v.optional(v.number()),
  noPreview: v.optional(v.literal(true)),
});

const Preview = v.object({ runId: v.string(), toStep: v.number(), digest: v.string(), calls: v.array(UndoCall) });

/** What was taken back. */
export const UndoneReport = v.object({
  runId: v.string(),
  takenBack: v.array(UndoCall),
  remains: v.array(UndoCall),
  failed: v.optional(v.object({ toolCallId: v.string(), error: ErrorData })),
  approvalId: v.optional(v.string()),
  message: v.optional(v.looseObject({ id: v.string(), role: v.string(), parts: v.array(v.unknown()) })),
  isStored: v.boolean(),
});

export const undoOperations = {
  'GET /v1/runs/:id/undo': {
    operationId: 'previewUndo',
    summary: 'What of a run would be taken back, newest first',
    scope: 'run:read',
    checkedBy: 'runtime',
    query: PreviewQuery,
    responses: { 200: json<UndoPreview>('The calls', named('UndoPreview', shapeOf(Preview))) },
    problems: [404, 410],
  },
  'POST /v1/runs/:id/undo': {
    operationId: 'undoRun',
    summary: 'Take back what a preview has shown',
    scope: 'run:create',
    checkedBy: 'runtime',
    body: shapeOf(Confirmed),
    responses: {
      200: json<UndoReport>('What was taken back, and what remains', named('UndoReport', shapeOf(UndoneReport))),
    },
    problems: [404, 409, 410, 413, 415],
  },
} satisfies Operations;

export function undoRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(undoOperations);
  serve('GET /v1/runs/:id/undo', async (c) => {
    const { toStep } = parse(PreviewQuery, c.req.query(), { what: 'the query' });
    const terms = { ...(toStep !== undefined && { toStep }) };
    return c.json(await runtime.undo.preview(c.req.param('id'), terms, c.var.principal));
  });
  serve('POST /v1/runs/:id/undo', async (c) => {
    const { toStep, digest } = await readAs(c.req.raw, Confirmed, { what: 'the confirmation' });
    const terms = { digest, ...(toStep !== undefined && { toStep }) };
    // A caller that leaves does not stop it halfway.
    return c.json(await runtime.undo.run(c.req.param('id'), terms, c.var.principal));
  });
}
