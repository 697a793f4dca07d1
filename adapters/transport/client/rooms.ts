/** What a client reads and does at an endpoint besides runs, by topic. Each call names its operation in the table of the endpoint. */

import type { Page, PageOptions } from '../../../src/base/page.ts';
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
import type { PlanView } from '../../../src/planner/planner.ts';
import type { StoredFile } from '../../../src/runtime/message-files.ts';
import type { ChatOwner, ChatSummary, DeletedChat, StoredChat } from '../../../src/runtime/chat-record.ts';
import type { WithTimes } from '../http/operation.ts';
import type { Call, CallOptions } from './call.ts';
import { type Connection, resolvePath } from './connection.ts';

/** What was done, and whether the audit is complete. Errors are those of the log; `not_found` where the endpoint has no audit. */
export interface RemoteAudit extends Pick<EventLog, 'verify'> {
  /** Returns a page, the oldest first. */
  list(query?: EventQuery, options?: CallOptions): Promise<Page<LoggedEvent>>;
}

/** Returns the audit of an endpoint. */
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

/** Returns the plans of an endpoint. */
export function remotePlans(call: Call): RemotePlans {
  return {
    view: (id, given) => call('GET /v1/plans/:id', { id }, given),
    pause: (id, given) => call('POST /v1/plans/:id/pause', { id }, given),
    resume: (id, given) => call('POST /v1/plans/:id/resume', { id }, given),
    cancel: (id, { signal, ...body } = {}) => call('POST /v1/plans/:id/cancel', { id }, { signal, body }),
  };
}

/** The stored chats of the caller; with the scope `admin`, `subject` names another one of the tenant. */
export interface RemoteChats {
  /** Lists chats, the newest first. */
  list(options?: CallOptions & ChatOwner & PageOptions): Promise<Page<ChatSummary>>;
  /** Returns a chat with up to `limit` messages (200), the oldest first. Rejects with `not_found`. */
  get(chatId: string, options?: CallOptions & ChatOwner & PageOptions): Promise<StoredChat>;
  /** Sets the title. Rejects with `conflict` (`version_mismatch`) when another rename came between. */
  rename(
    chatId: string,
    change: { readonly title: string; readonly version: number },
    options?: CallOptions & ChatOwner,
  ): Promise<ChatSummary>;
  /** Deletes a chat with its messages and the logs of its runs. Deleting an unknown chat removes nothing. */
  delete(chatId: string, options?: CallOptions & ChatOwner): Promise<DeletedChat>;
}

/** Returns the stored chats of an endpoint. */
export function remoteChats(call: Call): RemoteChats {
  return {
    async list({ signal, ...query } = {}) {
      const { items, ...page } = await call('GET /v1/chats', {}, { signal, query });
      return { items: items.map(withTimes), ...page };
    },
    get: async (id, { signal, ...query } = {}) => withTimes(await call('GET /v1/chats/:id', { id }, { signal, query })),
    rename: async (id, { title, version }, { signal, ...query } = {}) =>
      withTimes(await call('PATCH /v1/chats/:id', { id }, { signal, query, version, body: { title } })),
    delete: (id, { signal, ...query } = {}) => call('DELETE /v1/chats/:id', { id }, { signal, query }),
  };
}

type Times = 'createdAt' | 'updatedAt';

function withTimes<T extends WithTimes<Pick<ChatSummary, Times>, Times>>(
  { createdAt, updatedAt, ...chat }: T,
): Omit<T, Times> & Pick<ChatSummary, Times> {
  return { ...chat, createdAt: Date.parse(createdAt), updatedAt: Date.parse(updatedAt) };
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

/** Returns the sign-ins of an endpoint. */
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

/** Their approved resources. */
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

/** Returns the prompts, resources and apps of the MCP servers of an endpoint. */
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
export function remoteBlobs({ base, send }: Connection): RemoteBlobs {
  const pathOf = (id: string): URL =>
    resolvePath(base, `/v1/blobs/${encodeURIComponent(id.replace(/^pinnace-blob:/, ''))}`);
  return {
    async upload(file, { signal = new AbortController().signal } = {}) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const type = file.type === '' ? 'application/octet-stream' : file.type;
      const response = await send({ method: 'POST', url: resolvePath(base, '/v1/blobs'), bytes, type, signal });
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
