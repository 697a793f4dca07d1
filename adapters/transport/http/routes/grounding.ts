/** The routes of grounding: query a data source, and ingest files into one. */

import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as v from 'valibot';
import { PinnaceError, toData } from '../../../../src/base/errors.ts';
import { loadOnce } from '../../../../src/base/load-once.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { Storage } from '../../../../src/contracts/storage.ts';
import { hidesCause } from '../../../../src/events/report.ts';
import { within } from '../../../../src/events/span.ts';
import type { GroundingCallOptions } from '../../../../src/grounding/access.ts';
import type { Grounding } from '../../../../src/grounding/create-grounding.ts';
import {
  ingest,
  type IngestFile,
  type IngestOptions,
  type IngestReport,
} from '../../../../src/grounding/ingest/ingest.ts';
import {
  type GroundingAnswer as Answered,
  type RetrieveInput,
  RetrieveRequest,
} from '../../../../src/grounding/request.ts';
import { fromBase64 } from '../../../../src/base/base64.ts';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import { readAs } from '../request.ts';
import type { RequestTrace, Served, SignedEnv } from '../authentication.ts';
import { ErrorData, json, type Operations, shapeOf } from '../operation.ts';
import { eventsOf } from '../stream-parts.ts';

export interface GroundingRouteOptions {
  readonly grounding: Grounding;
  /** Stores the progress of ingestions. */
  readonly storage: Storage;
}

/** Files to ingest: text, or the bytes of any file that can be read. */
const IngestRequest = v.strictObject({
  files: v.pipe(
    v.array(v.strictObject({
      name: v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(500),
        v.check(
          (name) => !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(name),
          'must be one line without control characters',
        ), // people read it beside citations
      ),
      type: v.optional(v.pipe(v.string(), v.maxLength(200))),
      uri: v.optional(v.pipe(v.string(), v.maxLength(2048))),
      text: v.optional(v.string()),
      /** Base64 (RFC 4648, 4). */
      bytes: v.optional(v.string()),
    })),
    v.minLength(1),
    v.maxLength(1000),
  ),
  /** Of a shared source: whether the files are for all tenants; for callers of the deployment they are, when absent. */
  shared: v.optional(v.boolean()),
});

/** A query whose source is in the path; `retrieve` parses its fields. */
const Query = v.looseObject({});

const GroundingKind = v.picklist(['search', 'vector', 'structured', 'code']);

const GroundingAnswer = v.object({
  hits: v.array(v.object({
    id: v.string(),
    content: v.string(),
    contentRange: v.optional(v.array(v.number())),
    title: v.optional(v.string()),
    source: v.object({ uri: v.string(), version: v.string() }),
    score: v.number(),
    scoreKind: v.picklist(['bm25', 'cosine', 'exact', 'rerank', 'rrf']),
    confidence: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    answered: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    matched: v.array(v.object({ field: v.string(), ranges: v.array(v.array(v.number())) })),
    metadata: v.record(v.string(), v.unknown()),
    dataSourceId: v.string(),
    kind: GroundingKind,
    rank: v.number(),
    calibrated: v.boolean(),
  })),
  sources: v.array(v.object({
    dataSourceId: v.string(),
    kind: v.optional(GroundingKind),
    tookMs: v.number(),
    candidates: v.number(),
    status: v.picklist(['ok', 'partial', 'error']),
    reason: v.optional(v.literal('no_items_of_tenant')),
    error: v.optional(ErrorData),
    version: v.optional(v.string()),
  })),
  answered: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  fused: v.boolean(),
});

const Progress = v.object({
  file: v.string(),
  state: v.picklist(['reading', 'writing', 'done', 'unchanged', 'failed']),
  done: v.number(),
  total: v.number(),
  refused: v.optional(v.number()),
  error: v.optional(ErrorData),
});
const Report = v.object({ files: v.array(Progress), written: v.number() });

export const groundingOperations = {
  'POST /v1/grounding/:source/retrieve': {
    operationId: 'retrieve',
    summary: 'Query a data source',
    scope: 'grounding:read',
    body: shapeOf(v.omit(RetrieveRequest, ['dataSourceId', 'dataSourceIds'])),
    responses: { 200: json<Answered>('The hits, the best first', shapeOf(GroundingAnswer)) },
    problems: [404, 413, 415],
  },
  'POST /v1/data-sources/:id/ingest': {
    operationId: 'ingest',
    hasLargeBody: true,
    summary: 'Ingest files of at most 16 MiB; with Accept: text/event-stream the response streams the progress',
    scope: 'registry:write',
    body: shapeOf(IngestRequest),
    responses: {
      200: {
        description: 'The report. As a stream: events `progress`, then one `report` or one `error`',
        content: {
          ...json('', shapeOf(Report)).content,
          ...eventsOf('', shapeOf(v.union([Progress, Report, ErrorData]))).content,
        },
      },
    },
    problems: [404, 413, 415],
  },
} satisfies Operations;

export function groundingRoutes(
  { runtime, serve: table }: Served,
  { grounding, storage }: GroundingRouteOptions,
): void {
  const serve = table(groundingOperations);
  serve('POST /v1/grounding/:source/retrieve', async (c) => {
    const dataSourceId = requireSource(c.req.param('source'), grounding);
    const query = await readAs(c.req.raw, Query, { what: 'the question' });
    const request = { ...query, dataSourceId } as RetrieveInput; // parsed by `retrieve`
    return c.json(await grounding.retrieve(request, callOf(c, runtime)));
  });
  serve('POST /v1/data-sources/:id/ingest', async (c) => {
    const dataSourceId = requireSource(c.req.param('id'), grounding);
    const body = await readAs(c.req.raw, IngestRequest, { what: 'the files' });
    const files = body.files.map(toFile);
    const ingestion: Ingestion = {
      runtime,
      grounding,
      options: { dataSourceId, files, storage },
      call: { ...callOf(c, runtime), shared: body.shared },
    };
    const streams = c.req.header('accept')?.includes('text/event-stream') === true;
    return streams ? streamIngestion(c, ingestion) : c.json(await ingestGuarded(ingestion));
  });
}

/** Passes the runtime's permission hook, and a span in the caller's trace. */
function callOf(
  c: Context<SignedEnv>,
  { authorize, place, pay, report: send }: Pick<HostedRuntime, 'authorize' | 'place' | 'pay' | 'report'>,
): Call {
  const { principal, trace } = c.var;
  const report: Call['report'] = (cause, more) =>
    send(cause, { kind: 'grounding', id: c.req.path, traceId: trace.traceId, ...more });
  return { principal, trace, signal: c.req.raw.signal, authorize, pay, span: place(principal, trace), report };
}

interface Call extends GroundingCallOptions {
  readonly principal: Principal;
  readonly trace: RequestTrace;
  readonly report: NonNullable<GroundingCallOptions['report']>;
}

interface Ingestion {
  readonly runtime: Pick<HostedRuntime, 'guard'>;
  readonly grounding: Grounding;
  readonly options: IngestOptions;
  readonly call: Call;
}

/** Calls the permission hook for the whole ingestion, which is audited, and for each write within it. */
async function ingestGuarded({ runtime, grounding, options, call }: Ingestion): Promise<IngestReport> {
  const { principal, trace } = call;
  const { dataSourceId: id, files } = options;
  const facts = { action: 'grounding.ingest', target: { type: 'data-source', id }, payload: { files: files.length } };
  const guarded = { ...facts, principal, trace, attempt: `Cannot fill the data source "${id}"` };
  return await runtime.guard(guarded, (spanContext) =>
    within(spanContext, facts, async (span) => {
      const report = await ingest(grounding, options, { ...call, span });
      span?.note({ written: report.written });
      return report;
    }));
}

/** Streams events `progress`, and ends with one `report` or one `error`. */
function streamIngestion(c: Context, { options, call, ...ingestion }: Ingestion): Response {
  return streamSSE(c, async (stream) => {
    const send = (event: string, data: unknown): Promise<void> =>
      stream.writeSSE({ event, data: JSON.stringify(data) });
    const left = new AbortController();
    stream.onAbort(() => left.abort('client_gone'));
    const onProgress = (progress: unknown): void => void send('progress', progress);
    try {
      const streamed = { options: { ...options, onProgress }, call: { ...call, signal: left.signal } };
      await send('report', await ingestGuarded({ ...ingestion, ...streamed }));
    } catch (error) {
      if (hidesCause(error)) call.report(error, { kind: 'http' });
      await send('error', toData(error));
    }
  });
}

/** Bytes are decoded when the file is read: what they are is reported for that file alone. */
function toFile({ name, type, uri, text, bytes }: v.InferOutput<typeof IngestRequest>['files'][number]): IngestFile {
  if ((text === undefined) === (bytes === undefined)) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot read the files: "${name.slice(0, 64)}" needs either text or bytes`,
    );
  }
  const read = async (signal: AbortSignal | undefined): Promise<string> =>
    text ?? await (await loadFileText()).fileText(bytesOf(bytes), { type, signal });
  return { name, ...(type !== undefined && { type }), ...(uri !== undefined && { uri }), text: read };
}

function bytesOf(base64: string | undefined): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(base64 ?? '');
  if (bytes) return bytes;
  throw new PinnaceError('invalid_argument', 'Cannot read the file: its bytes are not base64', {
    details: { reason: 'file_not_base64' },
  });
}

const loadFileText = /* @__PURE__ */ loadOnce(() => import('../../../grounding/file-text.ts'));

function requireSource(id: string, { sources }: Grounding): string {
  if (sources.some((source) => source.id === id)) return id;
  throw new PinnaceError('not_found', 'No data source has this id', { details: { reason: 'data_source_not_found' } });
}
