/** The port to MCP servers. */

import type { McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';

/** What an MCP server answered to a call, as it came; nothing of it is trusted. */
export interface McpCallResult {
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** One tool call over a connection. */
export interface McpCall {
  /** As the server names it. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The pinned raw definition. One that says `readOnlyHint` or `idempotentHint` is called again where its session was gone. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** For the whole call. Progress does not extend it. */
  readonly timeoutMs: number;
  /** Goes along as `traceparent` of the call's `_meta` (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  readonly onProgress?: (
    progress: { readonly progress: number; readonly total?: number; readonly message?: string },
  ) => void;
}

/** A connection to an MCP server, for one run of one tenant. */
export interface McpConnection {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** The raw definitions of all pages, unknown fields too. */
  listTools(options: { readonly signal: AbortSignal }): Promise<readonly unknown[]>;
  callTool(call: McpCall): Promise<McpCallResult>;
  /** Stops what is under way. Never rejects. */
  close(): Promise<void>;
}

/**
 * Connects to MCP servers. Only the server's exact URL is asked, over the guarded way out; the secret goes there and nowhere else;
 * no redirect is followed; no client capability is declared, so that a server can ask neither model nor person. A call that ends,
 * with its signal (`cancelled`) or its time (`deadline_exceeded`), ends at the server too. A session that the server has
 * forgotten is begun anew.
 *
 * A server that does not answer is `unavailable`, with the reason `protocol_unsupported` when it speaks no known revision; one that
 * refuses the secret is `unavailable` with the reason `mcp_auth`; one that answers something else than MCP is `unavailable` with
 * the reason `mcp_invalid_answer`; a URL that may not be asked and a redirect are `forbidden`; an answer that is too long, and
 * a list without end, is `budget_exceeded`; a call that the server refuses as unknown is `not_found`. Texts of the server stand in
 * no error.
 */
export interface McpConnector {
  connect(
    server: McpServer,
    options: {
      readonly secret: Secret | undefined;
      readonly signal: AbortSignal;
      /** Is called when the server says that its list of tools has changed, which it may do while it answers a call. */
      readonly onToolsChanged?: () => void;
    },
  ): Promise<McpConnection>;
}
