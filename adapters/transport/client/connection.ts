/** Requests to an endpoint: call a route, start a run, join a run. */

import { serializeItem } from 'structured-headers';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { OutputOf, Route } from '../http/operation.ts';
import type { EndpointOperations } from '../http/routes/endpoint-operations.ts';
import { idempotencyKeyLength } from '../signed/caller.ts';
import { type FollowOptions, followRun, type Position } from './follow.ts';
import type { Send } from './send.ts';

export interface Connection {
  readonly base: URL;
  readonly send: Send;
  readonly reading: Pick<FollowOptions, 'wait' | 'silenceMs' | 'backoff'>;
}

async function callRoute(
  { base, send }: Connection,
  { method, path, body, signal, ifMatch }: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly signal: AbortSignal;
    /** The revision to change. */
    readonly ifMatch?: number | undefined;
  },
): Promise<unknown> {
  const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': quote(crypto.randomUUID()) } : {};
  const version: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` };
  const headers = { accept: 'application/json', ...key, ...version };
  const response = await send({ method, url: resolvePath(base, path), body, headers, signal });
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/plain')) return text;
  return text === '' ? undefined : JSON.parse(text);
}

export async function openEvents(
  { base, send }: Connection,
  { path, body, signal }: { readonly path: string; readonly body: unknown; readonly signal: AbortSignal },
): Promise<Response> {
  const headers = { accept: 'text/event-stream', 'idempotency-key': quote(crypto.randomUUID()) };
  return await send({ method: 'POST', url: resolvePath(base, path), body, headers, signal });
}

/** Starts a run, or joins the run that the key has started, and follows it to its end. */
export async function startRun(
  connection: Connection,
  { path = '/v1/runs', request, idempotencyKey, signal }: {
    readonly path?: string;
    readonly request: unknown;
    readonly idempotencyKey: string;
    readonly signal: AbortSignal;
  },
): Promise<ReadableStream<UIMessageChunk>> {
  const { base, send } = connection;
  const url = resolvePath(base, path);
  const headers = { accept: 'text/event-stream', 'idempotency-key': quote(idempotencyKey) };
  const start = async (): Promise<Response> => {
    try {
      return await send({ method: 'POST', url, body: request, headers, signal });
    } catch (error) {
      return await openStream(connection, { url: locationOf(error, base), position: beginning, signal });
    }
  };
  return follow(await start(), { connection, position: beginning, again: start, signal });
}

/** Follows the stream at this path from a position on; `null` when nothing is after it. */
export async function joinRun(
  connection: Connection,
  { path, position = beginning, signal }: {
    readonly path: string;
    readonly position?: Position;
    readonly signal: AbortSignal;
  },
): Promise<ReadableStream<UIMessageChunk> | null> {
  const url = resolvePath(connection.base, path);
  const start = (): Promise<Response> => openStream(connection, { url, position, signal });
  const first = await start();
  return first.status === 204 ? null : follow(first, { connection, position, again: start, signal });
}

export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}

const beginning: Position = { runId: undefined, seq: 0 };

interface Following {
  readonly connection: Connection;
  readonly position: Position;
  /** Repeats the first request, for as long as the run has no id. */
  readonly again: () => Promise<Response>;
  readonly signal: AbortSignal;
}

function follow(first: Response, { connection, position, again, signal }: Following): ReadableStream<UIMessageChunk> {
  return followRun(first, {
    ...connection.reading,
    signal,
    position,
    reopen(reached) {
      if (reached.runId === undefined) return again();
      const url = resolvePath(connection.base, `${runPath(reached.runId)}/stream`);
      return openStream(connection, { url, position: reached, signal });
    },
  });
}

function openStream(
  { send }: Connection,
  { url, position, signal }: { readonly url: URL; readonly position: Position; readonly signal: AbortSignal },
): Promise<Response> {
  const { runId, seq } = position;
  const after: Record<string, string> = runId === undefined || seq === 0 ? {} : { 'last-event-id': `${runId}:${seq}` };
  return send({ method: 'GET', url, headers: { accept: 'text/event-stream', ...after }, signal });
}

/**
 * Reads the address of an endpoint. A client does so at its first request, because a server may render the module of a page.
 * @throws PinnaceError `invalid_argument` for one that is not absolute outside of pages.
 */
export function readBase(url: string | URL): URL {
  const page = globalThis.location?.href;
  if (URL.canParse(url, page)) return new URL(url, page);
  const message = `Cannot connect to "${url}" without a page: pass a URL with its origin`;
  throw new PinnaceError('invalid_argument', message, { details: { reason: 'relative_url' } });
}

export function resolvePath(base: URL, path: string): URL {
  return new URL(base.pathname.replace(/\/$/, '') + path, base);
}

/** Returns where to join the run that this key has started. Rethrows any other error. */
function locationOf(error: unknown, base: URL): URL {
  const joinable = error instanceof PinnaceError && error.code === 'run_in_progress';
  const location = joinable ? error.details?.['location'] : undefined;
  if (typeof location !== 'string') throw error;
  const url = location.startsWith('/v1/') ? resolvePath(base, location) : new URL(location, base);
  if (url.origin === base.origin) return url;
  throw new PinnaceError('forbidden', 'Cannot join the run: the endpoint points to another origin', { cause: error });
}

function quote(key: string): string {
  const { min, max } = idempotencyKeyLength;
  if (/^[\x20-\x7e]*$/.test(key) && key.length >= min && key.length <= max) return serializeItem(key);
  const message = `Cannot use the idempotency key: take ${min} to ${max} printable ASCII characters`;
  throw new PinnaceError('invalid_argument', message);
}

/** Options of a client call. */
export interface CallOptions {
  /** Aborts the call and its stream. The run continues; `cancel` stops it. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallInput extends CallOptions {
  readonly query?: Parameters<typeof queryOf>[0];
  readonly body?: unknown;
  /** The version to change: `If-Match`. */
  readonly version?: number | undefined;
}

type ParamsOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}` ? Readonly<Record<Name, string>>
  : unknown;

export type Call = <R extends keyof EndpointOperations & Route>(
  route: R,
  params: ParamsOf<R>,
  given?: CallInput,
) => Promise<OutputOf<EndpointOperations[R]>>;

export function createCall(connection: Connection): Call {
  return async (route, params, given) => {
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(
      /:(\w+)/g,
      (_, name: string) => encodeURIComponent(String(Reflect.get(Object(params), name))),
    );
    return await callPath(connection, { method, path }, given) as never; // safe: the row of the operation says what it returns
  };
}

export async function callPath(
  connection: Connection,
  { method, path }: { readonly method: string; readonly path: string },
  { signal = new AbortController().signal, query = {}, body, version }: CallInput = {},
): Promise<unknown> {
  return await callRoute(connection, { method, path: path + queryOf(query), body, signal, ifMatch: version });
}

type Field = string | number | boolean | undefined;

/** Returns `?a=1&b=2&b=3`, without undefined fields; an empty string when nothing is left. */
export function queryOf(question: Readonly<Record<string, Field | readonly string[]>>): string {
  const fields = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)])
  );
  return fields.length === 0 ? '' : `?${new URLSearchParams(fields)}`;
}
