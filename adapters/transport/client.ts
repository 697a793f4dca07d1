/** The client of an endpoint. It signs, retries and resumes, so that its caller has one run and one stream. */

import { checkNames, checkOptions, optional, type Wanted } from '../../src/base/check-options.ts';
import type { ChatTransport, UIMessage, UIMessageChunk } from '../../src/contracts/ai-types.ts';
import type { McpValidation, McpValidationInput } from '../../src/contracts/mcp/mcp-validation.ts';
import type { ErasedPerson } from '../upkeep/person-data.ts';
import type { PlanReply } from '../../src/contracts/plans.ts';
import type { BudgetView } from '../../src/runtime/budgets.ts';
import type { RunRequestInput } from '../../src/runtime/run-request.ts';
import type { ForkEntry, ForkListOptions, ForkOptions } from '../../src/runtime/runtime.ts';
import type { Page } from '../../src/base/page.ts';
import type { SentMessage, SteeringMessageInput } from '../../src/runtime/steering.ts';
import { type ChatDefaults, type ChatLink, createChatTransport, type Opened } from './chat/chat-transport.ts';
import {
  type Call,
  type CallOptions,
  callPath,
  type Connection,
  createCall,
  joinRun,
  readBase,
  runPath,
  startRun,
} from './client/connection.ts';
import { type CallerOptions, credentialsOf } from './client/client-credentials.ts';
import { parseEventId } from './client/follow.ts';
import { type Watched, watchEvents, type WatchOptions, watchStream } from './client/watch.ts';
import {
  type RemoteAudit,
  remoteAudit,
  type RemoteBlobs,
  remoteBlobs,
  remoteChats,
  remoteContent,
  type RemoteGrounding,
  remoteGrounding,
  remoteInbox,
  remoteMcpSignIns,
  type RemotePlans,
  remotePlans,
  type RemoteRegistry,
  remoteRegistry,
  type RemoteRooms,
  remoteSchedules,
  remoteUndo,
} from './client/rooms.ts';
import { createSend, platformWait, type Wait } from './client/send.ts';

export { withStoredFiles } from './chat/chat-transport.ts';
export { readOutput } from '../../src/runtime/read-output.ts';
export type { PinnaceDataParts, PinnaceUIMessage } from '../../src/runtime/message-parts.ts';
export type { CallOptions } from './client/connection.ts';

/** The endpoint, the caller's credentials, and replacements of the platform for tests. */
export interface ClientOptions extends ChatDefaults, CallerOptions {
  /** The address of the endpoint, without `/v1`. In a page it may be relative: `/agents`; it is resolved at the first request. */
  readonly url: string | URL;
  /** Sends requests; the global `fetch` when absent. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** From 0 to 1: spreads the retries. */
  readonly random?: () => number;
  /** Waits between attempts; a timer when absent. For tests. */
  readonly wait?: Wait;
  /** The most attempts in a row that may fail. */
  readonly attempts?: number;
  /** A connection without a byte for so long is dead. */
  readonly silenceMs?: number;
}

const clientOptions: Readonly<Record<keyof ClientOptions, Wanted>> = {
  ...optional('url', 'credentials', 'subject', 'headers', 'certificate', 'key', 'agentId', 'body', 'fetch'),
  ...optional('now', 'random', 'wait', 'attempts', 'silenceMs'),
};

/** The state of a run. */
export interface RunStatus extends Readonly<Record<string, unknown>> {
  readonly state: string;
}

/** A person's decision on a tool call. */
export interface ApprovalDecision {
  readonly approved: boolean;
  readonly reason?: string;
}

/**
 * The client of an endpoint, which is also a transport for AI SDK chats, as `useChat` takes it. `stop()` cancels the run,
 * `addToolApprovalResponse` decides when the chat is sent again, and `resume` joins a run under way.
 */
export interface Client extends ChatTransport<UIMessage>, RemoteRooms {
  /**
   * Runs an agent and returns the chunks, each once and in order, over as many connections as needed. The same idempotency key
   * never starts a second run: a run in progress is joined, one that has ended is replayed.
   */
  run(
    request: RunRequestInput,
    options?: CallOptions & { readonly idempotencyKey?: string },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /**
   * Starts a run that shares the steps of an earlier one before `atStep`, and returns its chunks: the shared ones, then its own.
   * Without `atStep`, continues a run whose instance was lost.
   */
  fork(
    runId: string,
    options?: ForkOptions,
    call?: CallOptions & { readonly idempotencyKey?: string },
  ): Promise<ReadableStream<UIMessageChunk>>;
  /** Lists the forks of a run. */
  forks(runId: string, options?: CallOptions & ForkListOptions): Promise<Page<ForkEntry>>;
  /** Returns the chunks of a run, only those after `lastEventId` if it is set; `null` if there are none. */
  resume(
    runId: string,
    options?: CallOptions & { readonly lastEventId?: string },
  ): Promise<ReadableStream<UIMessageChunk> | null>;
  /** Stops a run. Repeating the call changes nothing. */
  cancel(runId: string, options?: CallOptions): Promise<void>;
  /**
   * Sends a message to a run that works: its model receives it before its next call. A message without an `id` gets one, so a retry
   * sends it once. Rejects with `conflict` (`run_ended`) when the run has ended: send it as the next message of the chat.
   */
  send(runId: string, message: SteeringMessageInput, options?: CallOptions): Promise<SentMessage>;
  status(runId: string, options?: CallOptions): Promise<RunStatus>;
  /** Decides on a tool call that waits for it. */
  approve(runId: string, approvalId: string, decision: ApprovalDecision, options?: CallOptions): Promise<void>;
  /** Answers a question of the plan that a run follows. */
  reply(runId: string, reply: PlanReply, options?: CallOptions): Promise<void>;
  /** Checks what an MCP server offers, and with `approve` pins it. */
  validateMcpServer(serverId: string, request?: McpValidationInput, options?: CallOptions): Promise<McpValidation>;
  /** The plans that runs of the endpoint have started. */
  readonly plans: RemotePlans;
  /**
   * Observes the events of the caller's tenant: each event once, over as many connections as needed, and a `gap` where some were
   * missed. Needs the scope `admin`.
   */
  events(options?: Partial<WatchOptions>): Promise<ReadableStream<Watched>>;
  /** The audit of the caller's tenant. Needs the scope `admin`. */
  readonly audit: RemoteAudit;
  /** The registries of the endpoint. */
  readonly registry: RemoteRegistry;
  /** The caller's budgets, and what is used of them: as `runtime.budgets`. */
  budgets(options?: CallOptions): Promise<readonly BudgetView[]>;
  /** The stored files of the endpoint, which messages refer to. */
  readonly blobs: RemoteBlobs;
  /**
   * Removes a subject's stored chats, the logs of their runs, and its memory. Needs the scope `admin`. Repeating the call removes
   * what is left.
   */
  erasePerson(subject: string, options?: CallOptions): Promise<ErasedPerson>;
  /** The data sources of the endpoint. */
  readonly grounding: RemoteGrounding;
  /** Calls any other route, such as `call('GET', '/v1/agents/helper/manifest')`. Returns the JSON of the response, or its plain text. */
  call(method: string, path: string, options?: CallOptions & { readonly body?: unknown }): Promise<unknown>;
}

/**
 * Creates the client of an endpoint.
 *
 * @example
 * const client = createClient({ url: 'https://agents.example', agentId: 'helper', credentials: { bearer: token } });
 * for await (const chunk of await client.run({ agentId: 'helper', chat })) show(chunk);
 */
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  const call = createCall(connection);
  return {
    call: (method, path, given) => callPath(connection, { method, path }, given),
    ...remoteContent(call),
    mcpSignIns: remoteMcpSignIns(call),
    plans: remotePlans(call),
    undo: remoteUndo(call),
    registry: remoteRegistry(connection, call),
    grounding: remoteGrounding(connection, call),
    blobs: remoteBlobs(connection),
    chats: remoteChats(call),
    schedules: remoteSchedules(call),
    inbox: remoteInbox(call, (path, how) => watchStream(connection, path, how)),
    audit: remoteAudit(call),
    run: (request, { signal = never(), idempotencyKey = crypto.randomUUID() } = {}) =>
      startRun(connection, { request, idempotencyKey, signal }),
    fork: (runId, request, { signal = never(), idempotencyKey = crypto.randomUUID() } = {}) =>
      startRun(connection, { path: `${runPath(runId)}/forks`, request, idempotencyKey, signal }),
    async forks(id, { signal, ...query } = {}) {
      const { items, ...more } = await call('GET /v1/runs/:id/forks', { id }, { signal, query: { ...query } });
      return { items: items.map((fork) => ({ ...fork, startedAt: Date.parse(fork.startedAt) })), ...more };
    },
    resume: async (runId, { signal = never(), lastEventId } = {}) =>
      await joinRun(connection, {
        path: `${runPath(runId)}/stream`,
        signal,
        ...(lastEventId && { position: parseEventId(lastEventId) }),
      }),
    cancel: (id, given) => call('DELETE /v1/runs/:id', { id }, given),
    send: (id, { id: messageId = crypto.randomUUID(), parts }, given) =>
      call('POST /v1/runs/:id/messages', { id }, { ...given, body: { id: messageId, parts } }),
    status: (id, given) => call('GET /v1/runs/:id', { id }, given),
    approve: (id, approvalId, body, given) =>
      call('POST /v1/runs/:id/approvals/:approvalId', { id, approvalId }, { ...given, body }),
    reply: (id, body, given) => call('POST /v1/runs/:id/replies', { id }, { ...given, body }),
    async budgets(given) {
      const { items } = await call('GET /v1/budgets', {}, given);
      return items.map((one) => ({ ...one, resetsAt: Date.parse(one.resetsAt) }));
    },
    validateMcpServer: (id, body = {}, given) => call('POST /v1/mcp-servers/:id/validate', { id }, { ...given, body }),
    erasePerson: (subject, given) => call('DELETE /v1/subjects/:subject', { subject }, given),
    events: ({ signal = never(), ...wanted } = {}) => watchEvents(connection, { ...wanted, signal }),
    ...createChatTransport(chatLink(connection, call), options),
  };
}

/** Leaving a stream over HTTP does not stop its run: `stop` cancels it. */
function chatLink(connection: Connection, call: Call): ChatLink {
  const opened = (open: (signal: AbortSignal) => Promise<ReadableStream<UIMessageChunk> | null>): Opened => {
    const reading = new AbortController();
    return {
      opening: open(reading.signal),
      leave: () => reading.abort(),
      async stop(found) {
        const runId = await found;
        if (runId === undefined) return reading.abort();
        await call('DELETE /v1/runs/:id', { id: runId });
      },
    };
  };
  return {
    start: (request) =>
      opened((signal) => startRun(connection, { request, idempotencyKey: crypto.randomUUID(), signal })),
    join: (chatId) =>
      opened((signal) => joinRun(connection, { path: `/v1/chats/${encodeURIComponent(chatId)}/stream`, signal })),
    decide: (id, approvalId, body) => call('POST /v1/runs/:id/approvals/:approvalId', { id, approvalId }, { body }),
  };
}

function connect(options: ClientOptions): Connection {
  checkOptions('create the client', options, {
    url: ['given', 'the address of the endpoint', /^(baseUrl|baseURL|endpoint|api)$/],
    fetch: ['function?', 'a function (request) => response'],
  });
  checkNames('create the client', options, clientOptions);
  const {
    now = Date.now,
    random = Math.random,
    wait = platformWait,
    attempts = 5,
    silenceMs = 45_000,
    fetch = (request) => globalThis.fetch(request),
  } = options;
  const reading = { wait, silenceMs, backoff: { attempts, baseMs: 100, capMs: 2000, random } };
  const send = createSend({ ...reading, ...credentialsOf(options), fetch, now });
  return {
    get base() {
      return readBase(options.url);
    },
    send,
    reading,
  };
}

/** Each call has its own signal, because combined signals keep references to their sources. */
function never(): AbortSignal {
  return new AbortController().signal;
}
