/**
 * The `fetch` for MCP libraries. It sends to one URL only, over the guarded egress, adds the secret there and nowhere else, and ends
 * every request. It refuses redirects and OAuth discovery, and streams for notifications where the caller does not observe them.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { readText } from '../../src/base/read-text.ts';
import type { Secret } from '../../src/base/secret.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { McpAuthorization } from '../../src/contracts/mcp/mcp-connector.ts';
import type { McpChallenge } from '../../src/contracts/mcp/sign-in.ts';
import { invalidAnswer, notOurs, sessionExpired, sessionLost, statusError, unanswered } from './failures.ts';
import { maxReopens, reportedLists, waitToReopen } from './notices.ts';
import {
  answers,
  answersAlone,
  createHeldResults,
  errorCodeOf,
  type HeldResults,
  type Message,
  olderRevision,
  readMessages,
  toCallResult,
  toGreeting,
} from './messages.ts';
import {
  createExchanges,
  eventOf,
  type Exchange,
  type Exchanges,
  relayEvents,
  type RelayOptions,
  relayQuestions,
} from './relay.ts';

interface McpFetchOptions {
  readonly egress: Egress;
  readonly url: URL;
  readonly secret: Secret | undefined;
  /** Whether a person can answer: only then is a stream held open for questions. */
  readonly questions?: boolean;
  /** The access tokens, in place of the secret. */
  readonly challenges?: Challenges | undefined;
  /** Called when changes of lists may have been missed. Absent: no stream is held open for them. */
  readonly onGap?: (() => void) | undefined;
  readonly onNotice: (notice: Message) => void;
  readonly maxBytes: number;
  readonly maxMs: number;
  /** How long a server may say nothing to the method of newer revisions before it is taken for an older one. */
  readonly discoverMs: number;
}

export interface McpFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Returns our error behind a server error that the library reports, by the data of that error. */
  readonly faultBehind: (data: unknown) => PinnaceError | undefined;
  /** Returns the server's result for the empty result that the library returns. */
  readonly resultBehind: (frame: unknown) => unknown;
  readonly bytesRead: () => number;
}

export function createMcpFetch(options: McpFetchOptions): McpFetch {
  const faults = new Map<unknown, PinnaceError>();
  const held = createHeldResults();
  const cookies = new Map<string, string>();
  let bytes = 0;
  const stream: NoticeStream = { isOffered: options.questions === true, opened: 0 };
  const context: Context = {
    ...options,
    cookies,
    exchanges: createExchanges(),
    hold: held.hold,
    stream,
    count: (length) => (bytes += length),
    toMessage: (error, id) => {
      const fault = crypto.randomUUID(); // a server cannot know it, so it cannot forge one
      faults.set(fault, error);
      return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'See data', data: { fault } } });
    },
  };
  return {
    async fetch(url, init = {}) {
      if (URL.parse(url)?.href !== options.url.href) throw notOurs();
      if (init.method === 'POST') return await post(init, context);
      if (init.method === 'GET' && !resumes(init)) return await listen(init, context);
      if (init.method === 'GET') return await resume(init, context);
      if (init.method === 'DELETE') return await end(init, context);
      throw notOurs();
    },
    faultBehind: (data) =>
      typeof data === 'object' && data !== null && 'fault' in data ? faults.get(data.fault) : undefined,
    resultBehind: held.take,
    bytesRead: () => bytes,
  };
}

/** The stream for messages outside of responses, up to 2025-11-25. */
interface NoticeStream {
  /** Whether a person can answer questions, or the server reports changed lists. */
  isOffered: boolean;
  opened: number;
}

interface Context extends McpFetchOptions {
  readonly cookies: Map<string, string>;
  readonly stream: NoticeStream;
  readonly exchanges: Exchanges;
  readonly hold: HeldResults['hold'];
  readonly count: (length: number) => void;
  readonly toMessage: (error: PinnaceError, id: Exchange['id']) => string;
}

async function post(init: RequestInit, context: Context): Promise<Response> {
  const { exchanges } = context;
  const exchange = exchanges.start(typeof init.body === 'string' ? init.body : '{}');
  let isLate = false;
  const giveUp = (): void => {
    isLate = true;
    exchange.abort.abort(invalidAnswer('it does not answer'));
  };
  const patience = exchange.method === discover ? setTimeout(giveUp, context.discoverMs) : undefined;
  try {
    const answer = await sendPost(init, exchange, context);
    if (exchange.id === undefined) return await taken(answer);
    if (!answer.ok) return await readRefusal(answer, { init, exchange, context });
    return await readAnswer(answer, exchange, context);
  } catch (error) {
    exchanges.end(exchange);
    if (exchange.method === discover && (isLate || await saysNothingOfOlder(error, context))) {
      return new Response(null, { status: 400 });
    }
    throw error;
  } finally {
    clearTimeout(patience);
  }
}

async function sendPost(init: RequestInit, exchange: Exchange, context: Context): Promise<Response> {
  const { body, method, abort: { signal } } = exchange;
  const answer = await send({ ...init, body }, context, signal);
  if (method !== 'initialize' || (!answer.ok && answer.status !== 400)) return answer;
  if (answer.body === null || mediaTypeOf(answer) === eventStream) return answer;
  const text = await readText(answer.body);
  const revision = olderRevision(text);
  if (revision === undefined) return new Response(text, answer);
  const headers = new Headers(init.headers);
  headers.delete('mcp-protocol-version');
  const older = body.replace(/"protocolVersion":"[^"]*"/, `"protocolVersion":"${revision}"`);
  return await send({ ...init, headers, body: older }, context, signal);
}

/**
 * Whether an older revision is worth a try after this failure of `server/discover`: whatever an older server answers to a method that
 * it does not know. In a browser, a server may forbid the headers of the newer one; and a gateway that knows the older methods alone
 * may refuse the new one whatever the credential is.
 */
async function saysNothingOfOlder(error: unknown, { secret, challenges }: Context): Promise<boolean> {
  if (!(error instanceof PinnaceError)) return false;
  const reason = error.details?.['reason'];
  if (knowsNoMethod.has(reason)) return true;
  if (!refusesCaller.has(reason)) return false;
  return secret !== undefined || await challenges?.authorization.token() !== undefined;
}

const knowsNoMethod: ReadonlySet<unknown> = new Set([
  'unreachable',
  'content_type',
  'mcp_invalid_answer',
  'mcp_failed',
]);
const refusesCaller: ReadonlySet<unknown> = new Set(['mcp_auth', 'mcp_sign_in_required', 'mcp_scope_refused']);

/** A server that does not know a message without a response, or fails at it, may still serve what follows. */
async function taken(answer: Response): Promise<Response> {
  await letGo(answer);
  if ([401, 403, 408, 429].includes(answer.status) || answer.status > 501) throw statusError(answer);
  return new Response(null, { status: 202 });
}

async function readAnswer(answer: Response, exchange: Exchange, context: Context): Promise<Response> {
  const headers = new Headers(sessionOf(answer, exchange));
  const relayed = (body: ReadableStream<Uint8Array<ArrayBuffer>>): Response => {
    headers.set('content-type', eventStream);
    return new Response(relayEvents(body, relayOptions(exchange, context)), { headers });
  };
  if (mediaTypeOf(answer) === eventStream && answer.body !== null) return relayed(answer.body);
  const text = await readText(answer.body);
  const { body } = new Response(text);
  if (/^\s*(?:data|event|id|retry)?:/.test(text) && body) return relayed(body); // under another label
  if (!/^\s*[{[]/.test(text)) throw invalidAnswer('its answer is neither JSON nor a stream of events');
  context.count(text.length);
  const messages = readMessages(text);
  const message = messages.find((one) => answers(one, exchange.wireId)) ??
    (messages.length === 1 ? messages.find(answersAlone) : undefined);
  if (message === undefined) throw invalidAnswer('its answer belongs to no request');
  if (exchange.method === discover && message.error === undefined && !isRecord(message.result)) {
    throw invalidAnswer('it says nothing of itself');
  }
  context.exchanges.end(exchange);
  return Response.json(toAnswer(message, exchange, context), { headers });
}

const eventStream = 'text/event-stream';

/** A session starts with its first response; later responses cannot change it. */
function sessionOf(answer: Response, { method }: Exchange): Readonly<Record<string, string>> {
  const id = answer.headers.get('mcp-session-id') ?? '';
  return method === 'initialize' && /^[\x21-\x7e]{1,1024}$/.test(id) ? { 'mcp-session-id': id } : {};
}

const discover = 'server/discover';

/** A JSON-RPC error takes precedence over the status of its response. */
async function readRefusal(
  answer: Response,
  { init, exchange, context }: {
    readonly init: RequestInit;
    readonly exchange: Exchange;
    readonly context: Context;
  },
): Promise<Response> {
  const { status } = answer;
  const isSession = new Headers(init.headers).has('mcp-session-id');
  if (status === 404 && isSession) {
    await letGo(answer);
    throw sessionExpired();
  }
  const error = isWorthReading(status) ? await readError(answer, exchange) : undefined;
  await letGo(answer);
  context.exchanges.end(exchange);
  if (error !== undefined && isSession && status === 400 && forSessions.has(error.code)) throw sessionExpired();
  if (error !== undefined) return Response.json({ jsonrpc: '2.0', id: exchange.id, error });
  // A server of an older revision may respond with any error to the newer one; the library then tries the older.
  if (exchange.method === discover && isWorthReading(status)) return new Response(null, { status });
  throw statusError(answer);
}

/** The codes with which servers refuse a session under 400 instead of 404, as the examples of the official libraries do. */
const forSessions: ReadonlySet<number> = new Set([-32_000, -32_001]);

function isWorthReading(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

/** Returns code and data of the error; the data names the revisions of the server. */
async function readError(
  answer: Response,
  { wireId }: Exchange,
): Promise<{ readonly code: number; readonly message: string; readonly data?: unknown } | undefined> {
  if (mediaTypeOf(answer) !== 'application/json') return undefined;
  try {
    const message = readMessages(await readText(answer.body)).find((one) => answers(one, wireId));
    const code = message && errorCodeOf(message);
    if (message === undefined || code === undefined) return undefined;
    const { data } = message.error as { readonly data?: unknown }; // safe: it has a code, so it is an object
    return { code, message: 'See code', ...(data !== undefined && { data }) };
  } catch {
    return undefined; // the status is enough
  }
}

function resumes({ headers }: RequestInit): boolean {
  return new Headers(headers).has('last-event-id');
}

/** Waits for questions and changed lists, where the server has a stream for them. One that it ends is opened a few times more. */
async function listen(init: RequestInit, context: Context): Promise<Response> {
  const { stream, onGap } = context;
  if (!stream.isOffered || stream.opened > maxReopens) return new Response(null, { status: 405 });
  const times = stream.opened++;
  if (times > 0) await waitToReopen(times, init.signal);
  const answer = await send(init, context).catch(() => undefined); // calls do not depend on it
  if (answer?.ok !== true || mediaTypeOf(answer) !== 'text/event-stream' || answer.body === null) {
    if (answer) await letGo(answer);
    return new Response(null, { status: 405 });
  }
  if (times > 0) onGap?.();
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(relayQuestions(answer.body, context), { headers });
}

/** Resumes a response that broke off; never waits for notifications. */
async function resume(init: RequestInit, context: Context): Promise<Response> {
  const exchange = context.exchanges.resumed(new Headers(init.headers).get('last-event-id') ?? '');
  if (exchange === undefined || exchange.ended) return new Response(null, { status: 405 });
  exchange.resumes++;
  const headers = { 'content-type': 'text/event-stream' };
  try {
    const answer = await send(init, context, exchange.abort.signal);
    if (!answer.ok) throw answer.status === 404 ? sessionLost() : statusError(answer);
    if (mediaTypeOf(answer) !== headers['content-type'] || answer.body === null) {
      await letGo(answer);
      throw invalidAnswer('it does not continue its response');
    }
    return new Response(relayEvents(answer.body, relayOptions(exchange, context)), { headers });
  } catch (error) {
    context.exchanges.end(exchange);
    const known = error instanceof PinnaceError ? error : unanswered();
    return new Response(eventOf(context.toMessage(known, exchange.id)), { headers });
  }
}

function relayOptions(exchange: Exchange, context: Context): RelayOptions {
  const { exchanges, count, toMessage, onNotice } = context;
  return {
    exchange,
    exchanges,
    count,
    onNotice,
    toAnswer: (message) => toAnswer(message, exchange, context),
    toMessage: (error) => toMessage(error, exchange.id),
  };
}

const isHeld = /^(?:tools|prompts|resources|completion)\//;

function toAnswer(message: Message, { id, method }: Exchange, { hold, stream, onGap }: Context): Message {
  const answer = method === 'initialize' ? { ...toGreeting(message), id } : { ...message, id };
  if (method === 'initialize' && onGap && reportedLists(asRecord(answer.result)['capabilities']).length > 0) {
    stream.isOffered = true;
  }
  if (method === 'tools/call') return completed(hold(toCallResult(answer)), true);
  if (isHeld.test(method)) return completed(hold(answer));
  return method === discover ? completed(answer) : answer;
}

/** A result of 2026-07-28 that lacks its type is complete, and one without facts for caches is cached nowhere: the library refuses both. It also refuses a call without content. */
function completed(message: Message, isCall = false): Message {
  const { result } = message;
  if (!isRecord(result)) return message;
  const { resultType = 'complete' } = result;
  const content = isCall && resultType === 'complete' ? { content: [] } : {};
  return { ...message, result: { resultType, ttlMs: 0, cacheScope: 'private', ...content, ...result } };
}

/** Ends the session, whatever the server responds. */
async function end(init: RequestInit, context: Context): Promise<Response> {
  await letGo(await send(init, { ...context, maxMs: Math.min(context.maxMs, maxEndMs) }));
  return new Response(null, { status: 200 });
}

const maxEndMs = 2000;

async function send(init: RequestInit, options: SendOptions, own?: AbortSignal): Promise<Response> {
  const { challenges, secret } = options;
  if (challenges === undefined) return await sendWith(secret, init, { options, own });
  return await sendAuthorized(challenges, (token) => sendWith(token, init, { options, own }));
}

type SendOptions = McpFetchOptions & Pick<Context, 'cookies'>;

async function sendWith(
  secret: Secret | undefined,
  { method, headers, body, signal: outer }: RequestInit,
  { options: { egress, url, maxBytes, maxMs, cookies }, own }: {
    readonly options: SendOptions;
    readonly own: AbortSignal | undefined;
  },
): Promise<Response> {
  const request = new Request(url, { method: method ?? 'GET', ...(headers && { headers }), ...(body && { body }) });
  return await egress.fetch(request, {
    origins: [url.origin],
    maxBytes,
    timeoutMs: maxMs,
    redirects: 'refuse',
    cookies,
    signal: AbortSignal.any([own, outer].filter((signal) => signal instanceof AbortSignal)),
    ...(secret && { secretHeaders: { authorization: ['Bearer ', secret] } }),
  });
}

function mediaTypeOf({ headers }: Response): string {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}

async function letGo(answer: Response): Promise<void> {
  await answer.body?.cancel().catch(() => {});
}

type ReadChallenge = (answer: Response) => McpChallenge;

export interface Challenges {
  readonly authorization: McpAuthorization;
  readonly read: ReadChallenge;
}

/** Sends a request. Rejects as `McpAuthorization.refused` does. */
async function sendAuthorized(
  { authorization, read }: Challenges,
  sendOnce: (token: Secret | undefined) => Promise<Response>,
): Promise<Response> {
  let token = await authorization.token();
  for (const again of [false, true]) {
    const answer = await sendOnce(token);
    if (answer.status !== 401 && answer.status !== 403) return answer;
    await answer.body?.cancel().catch(() => {});
    token = await authorization.refused(read(answer), { token, again });
  }
  return await sendOnce(token); // not reached: a second refusal rejects
}
