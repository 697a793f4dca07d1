/** The routes of grounding: one question to a data source, and files that become one. */

import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as v from 'valibot';
import { PinnaceError, toData } from '../../../src/base/errors.ts';
import type { GroundingCallOptions } from '../../../src/grounding/access.ts';
import type { Grounding } from '../../../src/grounding/create-grounding.ts';
import {
  ingest,
  type IngestFile,
  type IngestOptions,
  type IngestReport,
} from '../../../src/grounding/ingest/ingest.ts';
import type { RetrieveInput } from '../../../src/grounding/request.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { type Principal, requireScope } from '../../../src/base/principal.ts';
import { within } from '../../../src/events/span.ts';
import { bodyLimitOf } from './body-limits.ts';
import type { HandlerContext } from './handler.ts';
import { readJson } from './body.ts';
import { type RequestTrace, traceOf } from './trace.ts';

/** What the routes work with. */
export interface GroundingRouteOptions {
  readonly grounding: Grounding;
  /** Where it is noted how far an ingestion has come. */
  readonly storage: Storage;
}

/** What `POST /v1/data-sources/:id/ingest` takes: texts; what is not text is read by whoever sends it. */
export const IngestRequest = v.strictObject({
  files: v.pipe(
    v.array(v.strictObject({
      name: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
      type: v.optional(v.pipe(v.string(), v.maxLength(200))),
      uri: v.optional(v.pipe(v.string(), v.maxLength(2048))),
      text: v.string(),
    })),
    v.minLength(1),
    v.maxLength(1000),
  ),
});

/** A question of which the path names the source. */
const Question = v.looseObject({});

/** Adds the routes. Asking takes the scope `grounding:read`, filling `registry:write`. */
export function addGroundingRoutes(
  { app, authenticator, runtime, maxBodyBytes }: Pick<
    HandlerContext,
    'app' | 'authenticator' | 'runtime' | 'maxBodyBytes'
  >,
  { grounding, storage }: GroundingRouteOptions,
): void {
  app.post('/v1/grounding/:source/retrieve', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    requireScope(principal, 'grounding:read');
    const dataSourceId = sourceOf(c, grounding, 'source');
    const asked = parse(Question, (await readJson(c.req.raw, maxBodyBytes)).data, { what: 'the question' });
    const request = { ...asked, dataSourceId } as RetrieveInput; // parsed by `retrieve`
    return c.json(await grounding.retrieve(request, callOf(c, principal, runtime)));
  });
  app.post('/v1/data-sources/:id/ingest', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    requireScope(principal, 'registry:write');
    const dataSourceId = sourceOf(c, grounding, 'id');
    const { data } = await readJson(c.req.raw, bodyLimitOf(c.req.raw));
    const files = parse(IngestRequest, data, { what: 'the files' }).files.map(toFile);
    const call = callOf(c, principal, runtime);
    const filling: Filling = { runtime, grounding, options: { dataSourceId, files, storage }, call };
    if (c.req.header('accept')?.includes('text/event-stream') === true) return ingestAloud(c, filling);
    return c.json(await ingestGuarded(filling));
  });
}

/** The runtime's hook is asked too, and what is asked is told of there. */
function callOf(c: Context, principal: Principal, { authorize, place }: HandlerContext['runtime']): Call {
  const trace = traceOf(c.req.raw);
  return { principal, trace, signal: c.req.raw.signal, authorize, span: place(principal, trace) };
}

interface Call extends GroundingCallOptions {
  readonly principal: Principal;
  readonly trace: RequestTrace;
}

interface Filling {
  readonly runtime: Pick<HandlerContext['runtime'], 'guard'>;
  readonly grounding: Grounding;
  readonly options: IngestOptions;
  readonly call: Call;
}

/** The whole is one deed, which the hook is asked about and the audit has; each write within it is asked about as any. */
async function ingestGuarded({ runtime, grounding, options, call }: Filling): Promise<IngestReport> {
  const { principal, trace } = call;
  const { dataSourceId: id, files } = options;
  const facts = { action: 'grounding.ingest', target: { type: 'data-source', id }, payload: { files: files.length } };
  const deed = { ...facts, principal, trace, attempt: `Cannot fill the data source "${id}"` };
  return await runtime.guard(deed, (place) =>
    within(place, facts, async (span) => {
      const report = await ingest(grounding, options, { ...call, span });
      span?.note({ written: report.written });
      return report;
    }));
}

/** Tells the progress as events `progress`, and ends with one `report` or one `error`. */
function ingestAloud(c: Context, { options, call, ...filling }: Filling): Response {
  return streamSSE(c, async (stream) => {
    const tell = (event: string, data: unknown): Promise<void> =>
      stream.writeSSE({ event, data: JSON.stringify(data) });
    const left = new AbortController();
    stream.onAbort(() => left.abort('client_gone'));
    const onProgress = (progress: unknown): void => void tell('progress', progress);
    try {
      const heard = { options: { ...options, onProgress }, call: { ...call, signal: left.signal } };
      await tell('report', await ingestGuarded({ ...filling, ...heard }));
    } catch (error) {
      await tell('error', toData(error));
    }
  });
}

function toFile({ name, type, uri, text }: v.InferOutput<typeof IngestRequest>['files'][number]): IngestFile {
  return { name, ...(type !== undefined && { type }), ...(uri !== undefined && { uri }), text: () => text };
}

function sourceOf(c: Context, { sources }: Grounding, name: string): string {
  const id = c.req.param(name);
  if (id !== undefined && sources.some((source) => source.id === id)) return id;
  throw new PinnaceError('not_found', 'No data source has this id', { details: { reason: 'data_source_not_found' } });
}
