/** What a client reads and does at an endpoint besides runs, by topic. Each call names its operation in the table of the endpoint. */

import { toBase64 } from '../../../src/base/base64.ts';
import { type ErrorData, fromData } from '../../../src/base/errors.ts';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import type { PinnaceUIMessage } from '../../../src/runtime/message-parts.ts';
import type { Page, PageOptions } from '../../../src/base/page.ts';
import type { ToolDefinition } from '../../../src/base/schema.ts';
import type { McpAnswers } from '../../../src/contracts/mcp/answers.ts';
import type {
  McpApp,
  McpAppCallRequest,
  McpAppCallResult,
  McpAppRequest,
  McpCompletion,
  McpCompletionRequest,
  McpPrompt,
  McpPromptEntry,
  McpPromptRequest,
  McpResource,
  McpResourcePage,
  McpResourceQuery,
  McpResourceRequest,
} from '../../../src/contracts/mcp/content.ts';
import type {
  McpGrant,
  McpSignInCallback,
  McpSignInRequest,
  McpSignInStart,
} from '../../../src/contracts/mcp/sign-in.ts';
import type { EventLog, LoggedEvent } from '../../../src/events/audit.ts';
import type { EventQuery } from '../../../src/events/event-query.ts';
import type { IngestProgress, IngestReport } from '../../../src/grounding/ingest/ingest.ts';
import type { GroundingAnswer, RetrieveInput } from '../../../src/grounding/request.ts';
import type { PlanView } from '../../../src/planner/planner.ts';
import type { CatalogExport, ImportReport } from '../../../src/registry/catalog-document.ts';
import type { FoundRecords, Patch, Registration } from '../../../src/registry/collection.ts';
import type { HistoryEntry } from '../../../src/registry/history.ts';
import type { RegistryQuery } from '../../../src/registry/list.ts';
import type { CatalogRecords, RecordKind } from '../../../src/registry/record-kinds.ts';
import type {
  ChatImport,
  ChatOwner,
  ChatSummary,
  DeletedChat,
  ImportedChat,
  StoredChat,
} from '../../../src/runtime/chat-record.ts';
import type {
  InboxChange,
  InboxDecision,
  InboxDetail,
  InboxItem,
  InboxPage,
  InboxQuery,
  InboxResult,
  InboxWatch,
} from '../../../src/runtime/inbox.ts';
import type { StoredFile } from '../../../src/runtime/message-files.ts';
import {
  mapTimes,
  type Schedule,
  type ScheduleFire,
  type ScheduleInput,
  type TimedSchedule,
} from '../../../src/runtime/schedule.ts';
import type { UndoPreview, UndoReport, UndoTerms } from '../../../src/runtime/undo-types.ts';
import type { WithTimes } from '../http/operation.ts';
import {
  type Call,
  type CallInput,
  type CallOptions,
  callPath,
  type Connection,
  openEvents,
  queryOf,
  resolvePath,
} from './connection.ts';
import { readEvents } from './follow.ts';
import { pauseMs, unexpected, unreachable } from './send.ts';

/** What a client of an endpoint and the page of a worker call in the name of their caller, by topic. */
export interface RemoteRooms {
  /** What waits for a decision of the caller. */
  readonly inbox: RemoteInbox;
  /** The caller's stored chats: those of requests with `chat.store`. */
  readonly chats: RemoteChats;
  /** What starts runs by itself: at times, at intervals, or for signed requests. In a page, while it is open. */
  readonly schedules: RemoteSchedules;
  /** Takes back what runs have done: look first, then confirm by the digest. */
  readonly undo: RemoteUndo;
  /** The prompts of the MCP servers that an agent selects. */
  readonly prompts: RemotePrompts;
  /** Their resources. */
  readonly resources: RemoteResources;
  /** Their apps (MCP Apps). */
  readonly apps: RemoteApps;
  /** Signs the caller in to MCP servers, and answers their questions. */
  readonly mcpSignIns: RemoteMcpSignIns;
}

/** What was done, and whether the audit is complete. Errors are those of the log; `not_found` where the endpoint has no audit. */
export interface RemoteAudit extends Pick<EventLog, 'verify'> {
  /** Returns a page, the oldest first. */
  list(query?: EventQuery, options?: CallOptions): Promise<Page<LoggedEvent>>;
}

export function remoteAudit(call: Call): RemoteAudit {
  const timeOf = (time: number | undefined) => time === undefined ? undefined : new Date(time).toISOString();
  return {
    list: ({ from, until, ...query } = {}, given) =>
      call('GET /v1/audit', {}, { ...given, query: { ...query, from: timeOf(from), until: timeOf(until) } }),
    verify: ({ anchor, ...given } = {}) => call('GET /v1/audit/verification', {}, { ...given, query: { ...anchor } }),
  };
}

/** The plans of an endpoint. A plan of another owner is `not_found`. Repeating a call changes nothing. */
export interface RemotePlans {
  /** The state of the plan, with its tasks. */
  view(planId: string, options?: CallOptions): Promise<PlanView>;
  /** Starts no more activities until `resume`. Deadlines keep running. */
  pause(planId: string, options?: CallOptions): Promise<void>;
  resume(planId: string, options?: CallOptions): Promise<void>;
  /** Cancels the plan, or with an `address` one agent and its sub-agents. */
  cancel(
    planId: string,
    options?: CallOptions & { readonly address?: string; readonly reason?: string },
  ): Promise<void>;
}

export function remotePlans(call: Call): RemotePlans {
  return {
    view: (id, given) => call('GET /v1/plans/:id', { id }, given),
    pause: (id, given) => call('POST /v1/plans/:id/pause', { id }, given),
    resume: (id, given) => call('POST /v1/plans/:id/resume', { id }, given),
    cancel: (id, { signal, ...body } = {}) => call('POST /v1/plans/:id/cancel', { id }, { signal, body }),
  };
}

/** Takes back what runs have done; see `runtime.undo`. */
export interface RemoteUndo {
  preview(runId: string, terms?: UndoTerms, options?: CallOptions): Promise<UndoPreview>;
  run(runId: string, confirmed: UndoTerms & { readonly digest: string }, options?: CallOptions): Promise<UndoReport>;
}

export function remoteUndo(call: Call): RemoteUndo {
  return {
    preview: (id, terms = {}, given) => call('GET /v1/runs/:id/undo', { id }, { ...given, query: { ...terms } }),
    run: (id, body, given) => call('POST /v1/runs/:id/undo', { id }, { ...given, body }),
  };
}

/** The stored chats of the caller; with the scope `admin`, `subject` names another one of the tenant. */
export interface RemoteChats {
  /** Lists chats, the newest first. */
  list(options?: CallOptions & ChatOwner & PageOptions): Promise<Page<ChatSummary>>;
  /** Returns a chat with up to `limit` messages (200), the oldest first. Rejects with `not_found`. */
  get<Message extends UIMessage = PinnaceUIMessage>(
    chatId: string,
    options?: CallOptions & ChatOwner & PageOptions,
  ): Promise<StoredChat<Message>>;
  /** Sets the title. Rejects with `conflict` (`version_mismatch`) when another rename came between. */
  rename(
    chatId: string,
    change: { readonly title: string; readonly version: number },
    options?: CallOptions & ChatOwner,
  ): Promise<ChatSummary>;
  /** Stores a chat that another app has written; a repeat changes nothing. Rejects as `runtime.chats.import`. */
  import(chat: ChatImport, options?: CallOptions & ChatOwner): Promise<ImportedChat>;
  /** Deletes a chat with its messages and the logs of its runs. Deleting an unknown chat removes nothing. */
  delete(chatId: string, options?: CallOptions & ChatOwner): Promise<DeletedChat>;
}

export function remoteChats(call: Call): RemoteChats {
  return {
    async list({ signal, ...query } = {}) {
      const { items, ...page } = await call('GET /v1/chats', {}, { signal, query });
      return { items: items.map(withTimes), ...page };
    },
    get: async (id, { signal, ...query } = {}) =>
      withTimes(await call('GET /v1/chats/:id', { id }, { signal, query })) as never, // the caller says which messages these are
    rename: async (id, { title, version }, { signal, ...query } = {}) =>
      withTimes(await call('PATCH /v1/chats/:id', { id }, { signal, query, version, body: { title } })),
    import: async (body, { signal, ...query } = {}) =>
      withTimes(await call('POST /v1/chats/import', {}, { signal, query, body })),
    delete: (id, { signal, ...query } = {}) => call('DELETE /v1/chats/:id', { id }, { signal, query }),
  };
}

type Times = 'createdAt' | 'updatedAt';

function withTimes<T extends WithTimes<Pick<ChatSummary, Times>, Times>>(
  { createdAt, updatedAt, ...chat }: T,
): Omit<T, Times> & Pick<ChatSummary, Times> {
  return { ...chat, createdAt: Date.parse(createdAt), updatedAt: Date.parse(updatedAt) };
}

/** The schedules of the caller; with the scope `admin`, `subject` of `list` names another one. Calls reject as those of `runtime.schedules`. */
export interface RemoteSchedules {
  create(input: ScheduleInput, options?: CallOptions): Promise<Schedule>;
  list(options?: CallOptions & PageOptions & { readonly subject?: string | undefined }): Promise<Page<Schedule>>;
  get(id: string, options?: CallOptions): Promise<Schedule>;
  /** Changes fields of the schedule as it was at this `revision`. */
  update(
    id: string,
    change: Partial<ScheduleInput> & { readonly revision: number },
    options?: CallOptions,
  ): Promise<Schedule>;
  delete(id: string, options?: CallOptions): Promise<void>;
  pause(id: string, options?: CallOptions): Promise<Schedule>;
  resume(id: string, options?: CallOptions): Promise<Schedule>;
  /** Starts a run now. */
  run(id: string, options?: CallOptions): Promise<{ readonly runId: string }>;
  /** What became of its occurrences, the last one first. */
  fires(id: string, options?: CallOptions & PageOptions): Promise<Page<ScheduleFire>>;
}

export function remoteSchedules(call: Call): RemoteSchedules {
  const read = (schedule: TimedSchedule<string>): Schedule => mapTimes(schedule, Date.parse);
  return {
    create: async (body, given) => read(await call('POST /v1/schedules', {}, { ...given, body })),
    async list({ signal, ...query } = {}) {
      const { items, ...page } = await call('GET /v1/schedules', {}, { signal, query });
      return { items: items.map(read), ...page };
    },
    get: async (id, given) => read(await call('GET /v1/schedules/:id', { id }, given)),
    update: async (id, { revision: version, ...body }, given) =>
      read(await call('PATCH /v1/schedules/:id', { id }, { ...given, version, body })),
    delete: (id, given) => call('DELETE /v1/schedules/:id', { id }, given),
    pause: async (id, given) => read(await call('POST /v1/schedules/:id/pause', { id }, given)),
    resume: async (id, given) => read(await call('POST /v1/schedules/:id/resume', { id }, given)),
    run: (id, given) => call('POST /v1/schedules/:id/run', { id }, given),
    async fires(id, { signal, ...query } = {}) {
      const { items, ...page } = await call('GET /v1/schedules/:id/fires', { id }, { signal, query });
      const times = (fire: (typeof items)[number]): ScheduleFire => ({
        ...fire,
        at: Date.parse(fire.at),
        firedAt: Date.parse(fire.firedAt),
      });
      return { items: items.map(times), ...page };
    },
  };
}

/** What waits for a decision of the caller. */
export interface RemoteInbox {
  /** Lists what the caller may decide on, and what its own work waits for, the oldest first. */
  list(query?: InboxQuery & CallOptions): Promise<InboxPage>;
  /** Returns an item with all that a person is shown. */
  get(id: string, options?: CallOptions): Promise<InboxDetail>;
  /** Decides on 1 to 100 items, each for itself: see the results. `seen` is that of the listed item. */
  decide(decisions: readonly InboxDecision[], options?: CallOptions): Promise<readonly InboxResult[]>;
  /** Streams what waits, over as many connections as needed: a snapshot with each connection, then its changes. */
  watch(options?: InboxWatch): Promise<ReadableStream<InboxChange>>;
}

export function remoteInbox(
  call: Call,
  watch: (
    path: string,
    how: {
      readonly signal?: AbortSignal | undefined;
      readonly read: (type: string, data: object) => InboxChange | undefined;
    },
  ) => Promise<ReadableStream<InboxChange>>,
): RemoteInbox {
  return {
    async list({ signal, before, ...query } = {}) {
      const until = before === undefined ? {} : { before: new Date(before).toISOString() };
      const { items, ...page } = await call('GET /v1/inbox', {}, { signal, query: { ...query, ...until } });
      return { items: items.map(itemOf), ...page };
    },
    get: async (id, given) => itemOf(await call('GET /v1/inbox/:id', { id }, given)),
    decide: async (decisions, given) =>
      (await call('POST /v1/inbox/decisions', {}, { ...given, body: { decisions } })).results,
    watch: ({ signal, of } = {}) => watch(`/v1/inbox/stream${queryOf({ of })}`, { signal, read: changeOf }),
  };
}

type ItemTimes = 'openedAt' | 'expiresAt';

function itemOf<T extends WithTimes<Pick<InboxItem, ItemTimes>, ItemTimes>>(
  { openedAt, expiresAt, ...item }: T,
): Omit<T, ItemTimes> & Pick<InboxItem, ItemTimes> {
  return { ...item, openedAt: Date.parse(openedAt), expiresAt: Date.parse(expiresAt) };
}

type SentItem = WithTimes<InboxItem, ItemTimes>;

function changeOf(type: string, data: object): InboxChange | undefined {
  const { items, item, id } = data as {
    readonly items?: readonly SentItem[];
    readonly item?: SentItem;
    readonly id?: string;
  }; // as the endpoint describes
  if (type === 'snapshot' && items) return { type, items: items.map(itemOf) };
  if (type === 'opened' && item) return { type, item: itemOf(item) };
  return type === 'settled' && id !== undefined ? { type, id } : undefined;
}

/** Sign-ins of the caller to MCP servers, by the ids of their records. */
export interface RemoteMcpSignIns {
  /**
   * Returns the URL that the caller opens, for ten minutes. With `interruptionId`, the sign-in answers that interruption of a run.
   *
   * Rejects with `invalid_argument` for a redirect URI that the composition does not list, `not_found`, and `conflict` when the
   * server's sign-in is not approved as it is now.
   */
  start(serverId: string, request: McpSignInRequest, options?: CallOptions): Promise<McpSignInStart>;
  /**
   * Finishes a sign-in with the query parameters of the redirect, once, as the caller who started it.
   *
   * Rejects with `not_found` for an unknown, used or late `state`, `forbidden` when it was refused, or for another caller.
   */
  finish(callback: McpSignInCallback, options?: CallOptions): Promise<void>;
  /** Returns the caller's sign-in, without its tokens. */
  grant(serverId: string, options?: CallOptions): Promise<McpGrant>;
  /** Erases the tokens, and revokes them where the authorization server can. */
  revoke(serverId: string, options?: CallOptions): Promise<void>;
  /**
   * Answers all questions of an interruption of the kind `elicitation`, by their keys. The chat's next run sends them with the call.
   *
   * Rejects with `invalid_argument` for answers that do not fit, which leaves the questions open, `already_decided`,
   * `approval_expired` and `not_found`.
   */
  answer(
    runId: string,
    interruptionId: string,
    answers: McpAnswers['answers'],
    options?: CallOptions,
  ): Promise<void>;
}

export function remoteMcpSignIns(call: Call): RemoteMcpSignIns {
  return {
    start: (id, body, given) => call('POST /v1/mcp-servers/:id/sign-in', { id }, { ...given, body }),
    finish: (body, given) => call('POST /v1/mcp-sign-ins', {}, { ...given, body }),
    grant: (id, given) => call('GET /v1/mcp-servers/:id/grant', { id }, given),
    revoke: (id, given) => call('DELETE /v1/mcp-servers/:id/grant', { id }, given),
    answer: (id, interruptionId, answers, given) =>
      call('POST /v1/runs/:id/interruptions/:interruptionId', { id, interruptionId }, { ...given, body: { answers } }),
  };
}

/** The approved prompts of the MCP servers that an agent selects. */
export interface RemotePrompts {
  list(agentId: string, options?: CallOptions): Promise<{ readonly items: readonly McpPromptEntry[] }>;
  /** Fills in the arguments. Show the messages to a person: they are untrusted. */
  get(agentId: string, request: McpPromptRequest, options?: CallOptions): Promise<McpPrompt>;
  /** Returns values for an argument of a prompt or a variable of a template. */
  complete(agentId: string, request: McpCompletionRequest, options?: CallOptions): Promise<McpCompletion>;
}

export interface RemoteResources {
  list(agentId: string, options?: CallOptions & McpResourceQuery): Promise<McpResourcePage>;
  read(agentId: string, request: McpResourceRequest, options?: CallOptions): Promise<McpResource>;
}

/** Their approved apps (MCP Apps). */
export interface RemoteApps {
  /** Returns the app if it is still the one that was approved. Show it in a sandboxed frame only. */
  read(agentId: string, request: McpAppRequest, options?: CallOptions): Promise<McpApp>;
  /** Makes a call of the app. A result with `question` needs a person: repeat the request with `approved`. */
  call(agentId: string, request: McpAppCallRequest, options?: CallOptions): Promise<McpAppCallResult>;
}

export function remoteContent(call: Call): {
  readonly prompts: RemotePrompts;
  readonly resources: RemoteResources;
  readonly apps: RemoteApps;
} {
  return {
    prompts: {
      list: (id, given) => call('GET /v1/agents/:id/prompts', { id }, given),
      get: (id, body, given) => call('POST /v1/agents/:id/prompts/get', { id }, { ...given, body }),
      complete: (id, body, given) => call('POST /v1/agents/:id/prompts/complete', { id }, { ...given, body }),
    },
    resources: {
      list: (id, { signal, ...query } = {}) =>
        call('GET /v1/agents/:id/resources', { id }, { signal, query: { ...query } }),
      read: (id, body, given) => call('POST /v1/agents/:id/resources/read', { id }, { ...given, body }),
    },
    apps: {
      read: (id, body, given) => call('POST /v1/agents/:id/apps/read', { id }, { ...given, body }),
      call: (id, body, given) => call('POST /v1/agents/:id/apps/call', { id }, { ...given, body }),
    },
  };
}

/** The stored files of the caller. */
export interface RemoteBlobs {
  /**
   * Uploads a file. Its `url` and `mediaType` make a file part of a message; the same content is stored once.
   *
   * @example
   * const { url, mediaType } = await client.blobs.upload(input.files[0]);
   * const part = { type: 'file', url, mediaType };
   */
  upload(file: Blob, options?: CallOptions): Promise<StoredFile>;
  /** Reads a file by its id or its `pinnace-blob:` address. Rejects with `not_found`. */
  read(id: string, options?: CallOptions): Promise<Blob>;
  /** Deletes a file. Needs the scope `admin`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** Returns the stored files of an endpoint. Files are no JSON, so they are sent by hand. */
export function remoteBlobs(connection: Connection): RemoteBlobs {
  const { send } = connection;
  const pathOf = (id: string): URL =>
    resolvePath(connection.base, `/v1/blobs/${encodeURIComponent(id.replace(/^pinnace-blob:/, ''))}`);
  return {
    async upload(file, { signal = new AbortController().signal } = {}) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const type = file.type === '' ? 'application/octet-stream' : file.type;
      const response = await send({
        method: 'POST',
        url: resolvePath(connection.base, '/v1/blobs'),
        bytes,
        type,
        signal,
      });
      return await response.json() as StoredFile; // the endpoint's schema says so
    },
    async read(id, { signal = new AbortController().signal } = {}) {
      const response = await send({ method: 'GET', url: pathOf(id), signal });
      return await response.blob();
    },
    async delete(id, { signal = new AbortController().signal } = {}) {
      await send({ method: 'DELETE', url: pathOf(id), signal });
    },
  };
}

/** A file to ingest: its text, or the bytes of a file that the endpoint reads, as PDF and office files are. */
type RemoteFile = RemoteFileName & ({ readonly text: string } | { readonly bytes: Uint8Array });

interface RemoteFileName {
  /** The file name; its extension selects the reader. A file of the same name replaces the earlier one. */
  readonly name: string;
  readonly type?: string;
  /** Where it can be opened; its name when absent. */
  readonly uri?: string;
}

export interface RemoteGrounding {
  /** Queries one data source. Rejects with `not_found` for an unknown one. */
  retrieve(
    dataSourceId: string,
    question: Omit<RetrieveInput, 'dataSourceId' | 'dataSourceIds'>,
    options?: CallOptions,
  ): Promise<GroundingAnswer>;
  /**
   * Ingests files into a data source. Yields the progress of each file, and returns the report. It reconnects after a cut: files
   * that were ingested before are then reported as `unchanged`.
   *
   * @example
   * for await (const { file, state, done, total } of client.grounding.ingest('handbook', files)) show(file, state, done / total);
   */
  ingest(
    dataSourceId: string,
    files: readonly RemoteFile[],
    options?: IngestCallOptions,
  ): AsyncGenerator<IngestProgress, IngestReport>;
}

interface IngestCallOptions extends CallOptions {
  /** Of a shared source: whether the files are for all tenants, which takes a caller of the deployment; then it is so when absent. */
  readonly shared?: boolean;
}

export function remoteGrounding(connection: Connection, call: Call): RemoteGrounding {
  return {
    retrieve: (source, body, given) => call('POST /v1/grounding/:source/retrieve', { source }, { ...given, body }),
    ingest: (dataSourceId, files, { signal = new AbortController().signal, shared } = {}) =>
      ingest(connection, {
        path: `/v1/data-sources/${encodeURIComponent(dataSourceId)}/ingest`,
        body: { files: files.map(toBody), ...(shared !== undefined && { shared }) },
        signal,
      }),
  };
}

interface Ingestion {
  readonly path: string;
  readonly body: object;
  readonly signal: AbortSignal;
}

async function* ingest(
  connection: Connection,
  { path, body, signal }: Ingestion,
): AsyncGenerator<IngestProgress, IngestReport> {
  const { wait, backoff } = connection.reading;
  for (let failures = 0; failures < backoff.attempts;) {
    const response = await openEvents(connection, { path, body, signal });
    for await (
      const { event, data } of readEvents(response.body ?? new ReadableStream(), { ...connection.reading, signal })
    ) {
      if (event === 'report') return parsed(data) as IngestReport; // the endpoint's schema says so
      if (event === 'error') throw fromData(parsed(data) as ErrorData); // as above
      if (event !== 'progress') continue;
      failures = 0; // progress resets the count of failures
      yield parsed(data) as IngestProgress; // as above
    }
    signal.throwIfAborted();
    failures += 1;
    await wait(pauseMs(failures, backoff), signal);
  }
  throw unreachable();
}

function toBody(file: RemoteFile): object {
  return 'bytes' in file ? { ...file, bytes: toBase64(file.bytes) } : file;
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw unexpected('an event holds no JSON');
  }
}

/** A call that changes a version that the caller has read: the record's `revision`. */
interface VersionOptions extends CallOptions {
  readonly version: number;
}

/** The records of one kind. Errors are those of the registry. */
export interface RemoteCollection<Kind extends RecordKind> {
  /** Registers a record. A retry after a lost response is a `conflict`, never a second record. */
  register(record: Registration<Kind>, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  get(id: string, options?: CallOptions): Promise<FoundRecords[Kind]>;
  list(query?: RegistryQuery, options?: CallOptions): Promise<Page<CatalogRecords[Kind]>>;
  update(id: string, patch: Patch<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  replace(id: string, record: Registration<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  disable(id: string, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  enable(id: string, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  remove(id: string, options?: Partial<VersionOptions>): Promise<void>;
  history(id: string, page?: PageOptions, options?: CallOptions): Promise<Page<HistoryEntry>>;
}

export interface RemoteRegistry {
  readonly agents: RemoteCollection<'agent'>;
  readonly tools: RemoteCollection<'tool'>;
  readonly mcpServers: RemoteCollection<'mcpServer'>;
  readonly providers: RemoteCollection<'provider'>;
  readonly dataSources: RemoteCollection<'dataSource'>;
  /** The definitions that an agent can use now. */
  availableTools(agentId: string, options?: CallOptions): Promise<readonly ToolDefinition[]>;
  export(options?: CallOptions): Promise<CatalogExport>;
  import(document: unknown, options?: CallOptions & { readonly dryRun?: boolean }): Promise<ImportReport>;
}

export function remoteRegistry(connection: Connection, call: Call): RemoteRegistry {
  const collection = <Kind extends RecordKind>(name: string) => remoteCollection<Kind>(connection, name);
  return {
    agents: collection('agents'),
    tools: collection('tools'),
    mcpServers: collection('mcp-servers'),
    providers: collection('providers'),
    dataSources: collection('data-sources'),
    availableTools: async (id, given) => (await call('GET /v1/agents/:id/tools', { id }, given)).items,
    export: (given) => call('GET /v1/export', {}, given),
    import: (body, { dryRun = false, signal } = {}) => call('POST /v1/import', {}, { signal, body, query: { dryRun } }),
  };
}

function remoteCollection<Kind extends RecordKind>(connection: Connection, name: string): RemoteCollection<Kind> {
  const one = (id: string): string => `/${encodeURIComponent(id)}`;
  const call = async (method: string, path: string, given?: CallInput): Promise<never> =>
    await callPath(connection, { method, path: `/v1/${name}${path}` }, given) as never; // safe: the table of the collection says what it returns
  return {
    // The client chooses the id, so a retry is the same record.
    register: (record, given) => call('POST', '', { ...given, body: { id: newId(name), ...record } }),
    get: (id, given) => call('GET', one(id), given),
    list: (query = {}, given = {}) => call('GET', '', { ...given, query }),
    update: (id, body, given) => call('PATCH', one(id), { ...given, body }),
    replace: (id, body, given) => call('PUT', one(id), { ...given, body }),
    disable: (id, given) => call('POST', `${one(id)}/disable`, given),
    enable: (id, given) => call('POST', `${one(id)}/enable`, given),
    remove: (id, given) => call('DELETE', one(id), given),
    history: (id, page = {}, given = {}) => call('GET', `${one(id)}/history`, { ...given, query: { ...page } }),
  };
}

function newId(name: string): string {
  return `${name.slice(0, -1)}_${crypto.randomUUID().replaceAll('-', '')}`;
}
