/** The port to MCP servers. */

import type { McpServer } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';
import type { McpAnswer, McpInputRequired, McpInputResponses } from './answers.ts';
import type { McpChallenge } from './sign-in.ts';

/** An MCP server's raw, untrusted answer to a call. */
export interface McpCallResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  /** What its `_meta.ifc` says of where the result is from, and who may read it. */
  readonly ifc?: unknown;
  /** The server asks a person before it does the work; the other fields are empty then. Only where `questions` were allowed. */
  readonly inputRequired?: McpInputRequired;
}

/** One tool call over a connection. */
export interface McpCall {
  /** As the server names it. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The answers to what the server has asked in the call before. */
  readonly responses?: McpInputResponses | undefined;
  /** Answers a question that the server asks inside the open call (2025-11-25). Absent: it is answered with `cancel`. */
  readonly onQuestion?: ((params: unknown) => Promise<McpAnswer>) | undefined;
  /**
   * The pinned raw definition. With `readOnlyHint` or `idempotentHint`, the call is retried when its answer broke off
   * with the session.
   */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** For the whole call. Progress does not extend it. */
  readonly timeoutMs: number;
  /** Sent as `traceparent` of the call's `_meta` (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  readonly onProgress?: (
    progress: { readonly progress: number; readonly total?: number; readonly message?: string },
  ) => void;
}

/** What a server may list besides tools; `templates` are those of resources. */
export type McpContentKind = 'prompts' | 'resources' | 'templates';

/** The raw definitions of one kind. */
export interface McpContentList {
  readonly items: readonly unknown[];
  /** Whether the server lists more than was read. */
  readonly isCut: boolean;
}

/** A request that changes nothing at the server. */
export interface McpReading {
  readonly method: 'resources/read' | 'prompts/get' | 'completion/complete';
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A log message of a server; untrusted. */
export interface McpLogMessage {
  readonly level: string;
  readonly logger?: string | undefined;
  readonly data: unknown;
}

/** The access tokens of a connection. */
export interface McpAuthorization {
  /** Returns the token for the next request; `undefined` without a sign-in. */
  token(): Promise<Secret | undefined>;
  /**
   * Called when the server refuses a request. Returns another token, with which the request is sent once more, or rejects: the request
   * then rejects with that error. `again`: the server has refused the other token too, and no request follows.
   */
  refused(
    challenge: McpChallenge,
    options: { readonly token: Secret | undefined; readonly again: boolean },
  ): Promise<Secret>;
}

/** A connection to an MCP server, for one run of one tenant. */
export interface McpConnection {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** The raw definitions of all pages, unknown fields too. */
  listTools(options: { readonly signal: AbortSignal }): Promise<readonly unknown[]>;
  /**
   * The raw definitions of a kind, of up to 200 pages, 10,000 definitions and the longest list; none where the server does not declare
   * the kind.
   */
  listContent(kind: McpContentKind, options: { readonly signal: AbortSignal }): Promise<McpContentList>;
  /** Returns the raw result. Rejects with `not_found` for what the server does not know. */
  read(request: McpReading): Promise<Readonly<Record<string, unknown>>>;
  callTool(call: McpCall): Promise<McpCallResult>;
  /** Stops running calls. Never rejects. */
  close(): Promise<void>;
}

/**
 * Connects to MCP servers. Sends requests and the secret only to the server's exact URL, over the guarded egress, and follows no
 * redirect. Declares no client capability, so a server cannot query the model. With `questions`, it can ask a person: by the result of
 * a call (2026-07-28), or while the call is open (2025-11-25). A call that ends with its signal (`cancelled`) or its timeout
 * (`deadline_exceeded`) is also cancelled at the server. A session that the server no longer knows is started again.
 *
 * Rejects with `unavailable` when the server does not answer, speaks no known revision (`protocol_unsupported`), refuses the secret
 * (`mcp_auth`) or answers something other than MCP (`mcp_invalid_answer`); `forbidden` for a URL that is not allowed and for a
 * redirect; `budget_exceeded` for an answer that is too long and an endless list; `not_found` for a tool that the server does not
 * know, `invalid_argument` for an input that it refuses. Errors contain no text of the server.
 */
export interface McpConnector {
  connect(
    server: McpServer,
    options: {
      readonly secret: Secret | undefined;
      /** Access tokens of OAuth, in place of the secret. */
      readonly authorization?: McpAuthorization | undefined;
      /** Declares that a person can answer questions (elicitation). */
      readonly questions?: boolean | undefined;
      readonly signal: AbortSignal;
      /** Called when the server reports a changed list of tools, which may happen during a call. */
      readonly onToolsChanged?: () => void;
      /** Called when the server reports a changed list of prompts or resources; a list of resources covers templates. */
      readonly onContentChanged?: ((kind: 'prompts' | 'resources') => void) | undefined;
      /** Receives the log messages of the server, at most 100 for each response. */
      readonly onLog?: ((message: McpLogMessage) => void) | undefined;
    },
  ): Promise<McpConnection>;
}
