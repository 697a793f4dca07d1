/**
 * Connections to MCP servers. What must hold:
 *
 * - Every request goes to the server's own URL, over the guarded egress. Only there are secrets and tokens added.
 * - Every operation ends: with its result, its time limit, its caller's signal, or the end of the connection.
 * - A session that the server no longer knows is replaced once. A call that may have acted is repeated only where hints that a person
 *   has approved allow it.
 * - No text of a server is part of an error. The libraries quote servers, so their errors are mapped by kind and dropped.
 * - The libraries see results without content, which they would change: content comes from the held response.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { McpServer } from '../../src/base/schema.ts';
import type { Secret } from '../../src/base/secret.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type {
  McpCall,
  McpCallResult,
  McpConnection,
  McpConnector,
  McpContentKind,
  McpContentList,
  McpReading,
} from '../../src/contracts/mcp/mcp-connector.ts';
import { withAttempts } from '../../src/base/with-retries.ts';
import { createDeadline } from '../egress/deadline.ts';
import {
  connectionClosed,
  endOfSession,
  invalidAnswer,
  protocolUnsupported,
  rpcError,
  sessionExpired,
} from './failures.ts';
import { contentLimits, listAll, listFirst, type ListOptions, toolLimits } from './list-pages.ts';
import { type Challenges, createMcpFetch, type McpFetch } from './mcp-fetch.ts';
import { isSet } from './messages.ts';
import { createNotices, type Listeners } from './notices.ts';
import type { ListMethod, LogLevel, McpSession, OpenOptions } from './session.ts';

/** The options of a connector. */
export interface McpConnectorOptions {
  /** The guarded egress; every request goes through it. */
  readonly egress: Egress;
  /** The longest answer and the longest list, in bytes; 4 MiB when absent. */
  readonly maxBytes?: number;
  /** For connecting; 15 s when absent. */
  readonly connectTimeoutMs?: number;
  /** For the list of all tools; 30 s when absent. */
  readonly listTimeoutMs?: number;
  /** The least level of log messages that servers are asked to send. Absent: servers of 2026-07-28 send none, older ones as they like. */
  readonly logLevel?: LogLevel;
}

export type OpenSession = (options: OpenOptions) => Promise<McpSession>;

export function connectorOver(open: OpenSession, options: McpConnectorOptions): McpConnector {
  return {
    async connect(server, { secret, authorization, questions = false, signal, ...listeners }) {
      const challenges = authorization && { authorization, read: await loadChallenges() };
      const { onToolsChanged = () => {}, onContentChanged, onLog } = listeners;
      const onGap = listeners.onToolsChanged && (() => {
        onToolsChanged();
        for (const kind of ['prompts', 'resources'] as const) onContentChanged?.(kind);
      });
      const observed = { onToolsChanged, onContentChanged, onLog, onGap };
      return await Connection.open({
        ...defaults,
        ...options,
        ...observed,
        open,
        server,
        secret,
        challenges,
        questions,
      }, signal);
    },
  };
}

const loadChallenges = /* @__PURE__ */ loadOnce(async () => (await import('./oauth.ts')).readChallenge);

const defaults = { maxBytes: 4_194_304, connectTimeoutMs: 15_000, listTimeoutMs: 30_000 };

interface ConnectionOptions extends Required<Omit<McpConnectorOptions, 'logLevel'>>, Listeners {
  readonly logLevel?: LogLevel;
  readonly open: OpenSession;
  readonly server: McpServer;
  readonly secret: Secret | undefined;
  readonly challenges: Challenges | undefined;
  readonly questions: boolean;
  /** Called when changes of the lists may have been missed; absent where the caller does not observe them. */
  readonly onGap: (() => void) | undefined;
}

interface LiveSession extends McpFetch {
  readonly session: McpSession;
}

/** The longest time of a response. Every call has its own, shorter time limit. */
const maxAnswerMs = 900_000;

class Connection implements McpConnection {
  readonly protocolVersion: string;
  readonly serverInfo: McpConnection['serverInfo'];
  readonly instructions: string | undefined;
  readonly #options: ConnectionOptions;
  readonly #life: AbortController;
  /** The current session; `undefined` when the server no longer knows it, until the next work starts another. */
  #current: Promise<LiveSession> | undefined;

  private constructor(first: LiveSession, life: AbortController, options: ConnectionOptions) {
    ({
      protocolVersion: this.protocolVersion,
      serverInfo: this.serverInfo,
      instructions: this.instructions,
    } = first.session);
    this.#options = options;
    this.#life = life;
    this.#current = Promise.resolve(first);
  }

  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
    const life = new AbortController();
    return new Connection(await openSession(options, [signal, life.signal]), life, options);
  }

  listTools({ signal }: { readonly signal: AbortSignal }): Promise<readonly unknown[]> {
    const { maxBytes } = this.#options;
    return this.#read(signal, (live, until) => {
      if (!offersTools(live.session.capabilities)) return Promise.resolve([]);
      const pages = pagesOf(live, 'tools/list', until);
      return inOurWords(live, 'tools/list', () => listAll({ ...pages, ...toolLimits, maxBytes }));
    });
  }

  listContent(kind: McpContentKind, { signal }: { readonly signal: AbortSignal }): Promise<McpContentList> {
    const { capability, method, field } = contentLists[kind];
    const { maxBytes } = this.#options;
    return this.#read(signal, async (live, until) => {
      if (live.session.capabilities[capability] === undefined) return nothing;
      const list = { ...pagesOf(live, method, until), ...contentLimits, field, maxBytes };
      return await inOurWords(live, method, () => listFirst(list)).catch((error: unknown) => {
        if (kind === 'templates' && isUnknownMethod(error)) return nothing; // a server with resources may have none
        throw error;
      });
    });
  }

  read({ method, params, signal, timeoutMs }: McpReading): Promise<Readonly<Record<string, unknown>>> {
    return this.#read(signal, async (live, until) => {
      const frame = await inOurWords(live, method, () => live.session.request(method, params, until));
      return readResult(live.resultBehind(frame));
    }, timeoutMs);
  }

  callTool(call: McpCall): Promise<McpCallResult> {
    const signals = [call.signal, this.#life.signal];
    return within({ signals, timeoutMs: call.timeoutMs }, (until) =>
      this.#use(mayRepeat(call), async (live) => {
        const frame = await inOurWords(live, 'tools/call', () => live.session.call(call, until));
        return readCallResult(live.resultBehind(frame), this.#options);
      }));
  }

  async close(): Promise<void> {
    this.#life.abort(connectionClosed());
    await this.#current?.then(({ session }) => session.close()).catch(() => {});
  }

  #read<T>(
    signal: AbortSignal,
    work: (live: LiveSession, until: AbortSignal) => Promise<T>,
    timeoutMs = this.#options.listTimeoutMs,
  ): Promise<T> {
    const signals = [signal, this.#life.signal];
    return within({ signals, timeoutMs }, (until) => this.#use(true, (live) => work(live, until)));
  }

  /**
   * Runs work with the session. Work that the server has refused for its session alone is repeated in a new one, once (Streamable
   * HTTP, Session Management); work whose answer broke off only where it `mayRepeat`.
   */
  async #use<T>(repeats: boolean, work: (live: LiveSession) => Promise<T>): Promise<T> {
    const used = this.#live();
    try {
      return await work(await used);
    } catch (error) {
      const end = endOfSession(error);
      if (end === undefined) throw error;
      if (this.#current === used) this.#current = undefined; // not closed: other calls may wait for its responses
      if (end === 'lost' && !repeats) throw error;
      const next = await this.#live().catch((cause: unknown) => {
        throw end === 'expired' ? sessionExpired(cause) : cause;
      });
      return await work(next).catch((last: unknown) => {
        throw withAttempts(last, 2);
      });
    }
  }

  #live(): Promise<LiveSession> {
    this.#life.signal.throwIfAborted();
    this.#current ??= openSession(this.#options, [this.#life.signal]).catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }
}

async function openSession(options: ConnectionOptions, signals: readonly AbortSignal[]): Promise<LiveSession> {
  const { open, egress, server, secret, challenges, questions, onGap, maxBytes, logLevel, connectTimeoutMs } = options;
  const url = new URL(server.url);
  url.hash = '';
  const onNotice = createNotices(options);
  const guarded = createMcpFetch({
    egress,
    url,
    secret,
    challenges,
    questions,
    onGap,
    onNotice,
    maxBytes,
    maxMs: maxAnswerMs,
    discoverMs: Math.min(5_000, connectTimeoutMs / 3),
  });
  const { fetch } = guarded;
  const apps = server.apps === true;
  const session = await within(
    { signals, timeoutMs: connectTimeoutMs },
    (signal) => inOurWords(guarded, 'initialize', () => open({ url, fetch, questions, apps, onGap, logLevel, signal })),
  );
  return { ...guarded, session };
}

/** By the server's hints, which a person has approved: a tool with wrong hints may be called twice. */
function mayRepeat({ definition }: McpCall): boolean {
  const { annotations } = definition as { readonly annotations?: Readonly<Record<string, unknown>> };
  return annotations?.['idempotentHint'] === true || annotations?.['readOnlyHint'] === true;
}

/** Some servers with tools declare nothing at all; one that declares other things and no tools has none. */
function offersTools(capabilities: McpSession['capabilities']): boolean {
  return capabilities['tools'] !== undefined ||
    !['resources', 'prompts', 'completions'].some((name) => capabilities[name] !== undefined);
}

const contentLists = {
  prompts: { capability: 'prompts', method: 'prompts/list', field: 'prompts' },
  resources: { capability: 'resources', method: 'resources/list', field: 'resources' },
  templates: { capability: 'resources', method: 'resources/templates/list', field: 'resourceTemplates' },
} as const;
const nothing: McpContentList = { items: [], isCut: false };

function isUnknownMethod(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['rpcCode'] === -32_601;
}

function pagesOf(
  { session, resultBehind, bytesRead }: LiveSession,
  method: ListMethod,
  signal: AbortSignal,
): Pick<ListOptions, 'page' | 'bytesRead'> {
  return {
    page: async (cursor) => resultBehind(await session.request(method, cursor === undefined ? {} : { cursor }, signal)),
    bytesRead,
  };
}

/**
 * Returns the parts of a result that a run reads, unchanged.
 * @throws PinnaceError `unavailable` for anything else, such as a question where no person can answer.
 */
function readCallResult(data: unknown, { questions }: { readonly questions: boolean }): McpCallResult {
  const { inputRequests, requestState } = (data ?? {}) as Readonly<Record<string, unknown>>;
  const { structuredContent, isError, resultType } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (resultType === 'input_required' && questions) {
    if (requestState !== undefined && typeof requestState !== 'string') throw invalidAnswer('its state is no text');
    const inputRequired = { inputRequests, ...(requestState !== undefined && { requestState }) };
    return { content: [], isError: false, inputRequired };
  }
  if (resultType !== undefined && resultType !== 'complete') {
    throw invalidAnswer('the tool asks for something, and this client has declared to answer nothing');
  }
  if (!isRecord(data)) throw invalidAnswer('its result has no content');
  const ifc = asRecord(data['_meta'])['ifc'];
  return {
    content: contentIn(data),
    isError: isSet(isError),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(ifc !== undefined && { ifc }),
  };
}

/** Content that is one part, or a text, is a list of it. A result that says something else than MCP knows is shown as it is. */
function contentIn(result: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { content, structuredContent, isError: _, resultType: __, _meta, ...others } = result;
  if (content !== undefined) {
    return [content].flat(2).map((part: unknown) => typeof part === 'string' ? { type: 'text', text: part } : part);
  }
  const isEmpty = structuredContent !== undefined || Object.keys(others).length === 0;
  return isEmpty ? [] : [{ type: 'text', text: JSON.stringify(others) }];
}

/**
 * Returns the result of a request that only reads.
 * @throws PinnaceError `unavailable` for one that is not complete: what is only read asks no person.
 */
function readResult(data: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(data)) throw invalidAnswer('its result is no object');
  const { resultType } = data;
  if (resultType === undefined || resultType === 'complete') return data;
  throw invalidAnswer('it asks for something before it answers, which only calls of tools may do');
}

/**
 * Runs the work, and releases its timer and signal afterwards.
 * @throws PinnaceError `cancelled` or `deadline_exceeded`, or what the work throws.
 */
async function within<T>(
  { signals, timeoutMs }: { readonly signals: readonly AbortSignal[]; readonly timeoutMs: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = createDeadline({ signal: AbortSignal.any([...signals]), timeoutMs });
  try {
    deadline.signal.throwIfAborted();
    return await deadline.race(work(deadline.signal));
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw error;
  } finally {
    deadline.release();
  }
}

/**
 * Runs work of a library for an MCP method. Its errors quote the server, so they are mapped by kind and dropped.
 * @throws PinnaceError only; see `McpConnector`.
 */
async function inOurWords<T>(
  { faultBehind }: Pick<McpFetch, 'faultBehind'>,
  method: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error, method, faultBehind);
  }
}

function toFailure(error: unknown, method: string, faultBehind: McpFetch['faultBehind']): PinnaceError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const known = cause instanceof PinnaceError ? cause : faultBehind('data' in cause ? cause.data : undefined);
    if (known !== undefined) return known;
  }
  const { code, message = '' } = error instanceof Error ? error as Error & { readonly code?: unknown } : {};
  if (typeof code === 'number') return rpcError(code, method);
  const isAboutVersions = code === 'ERA_NEGOTIATION_FAILED' || message.includes('protocol version is not supported');
  if (method === 'initialize' && isAboutVersions) return protocolUnsupported();
  return invalidAnswer('its answer is not what the protocol says');
}
