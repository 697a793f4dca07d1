/** Apps of MCP servers (MCP Apps), as callers of the runtime see them. The HTML is the server's: untrusted. */

import * as v from 'valibot';
import type { ErrorData } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpAppCsp } from '../../base/schema.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const facts = {
  /** The id of the server's record. */
  server: Name,
  uri: v.pipe(v.string(), v.minLength(1), v.maxLength(2048)),
  /** Of the approved app, as the part `data-mcp-app` says. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the hash of a `data-mcp-app` part')),
};

/** The request for an app. */
export const McpAppRequest = v.strictObject(facts);
export type McpAppRequest = v.InferInput<typeof McpAppRequest>;

/** The app of a tool's result. */
export interface McpAppRef {
  /** The id of the server's record. */
  readonly serverId: string;
  readonly uri: string;
  readonly sha256: string;
}

/** A call that an app makes. */
export const McpAppCallRequest = v.strictObject({
  ...facts,
  /** As the server names it. */
  tool: Name,
  arguments: v.optional(v.record(v.string(), v.unknown()), {}),
  /** The decision of the person who was shown `question`. */
  approved: v.optional(v.boolean()),
});
export type McpAppCallRequest = v.InferInput<typeof McpAppCallRequest>;

/** An app that was read again, and is the one that a person has approved. */
export interface McpApp {
  readonly server: string;
  readonly alias: string;
  /** Of the server's URL. */
  readonly host: string;
  readonly uri: string;
  readonly sha256: string;
  /** Show it in a sandboxed frame only. */
  readonly untrusted: true;
  readonly html: string;
  /** The only origins that the frame may reach. */
  readonly csp: McpAppCsp;
}

/** What came of an app's call. */
export type McpAppCallResult =
  | { readonly ok: true; readonly output: unknown }
  | {
    readonly ok: false;
    readonly error: ErrorData;
    /** Describes the call to the person who may approve it. Repeat the request with `approved`. */
    readonly question?: string;
  };

interface Given {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The apps of the MCP servers that an agent selects. Callers need the scope `run:create` and the agent. Rejects with `not_found`
 * (`mcp_app_not_found`) for an app that is not approved, `forbidden` for one that has changed since (`mcp_drifted`) and as the
 * permission hook decides, `approval_required` (`mcp_sign_in_required`) where the caller must sign in first, and as `McpConnector`.
 */
export interface RuntimeApps {
  /** Reads the app from its server, and returns it if it is still the one that was approved. */
  readonly read: (agentId: string, request: unknown, principal: Principal, given?: Given) => Promise<McpApp>;
  /**
   * Calls a tool of the app's own server in the agent's name, as every call: allowlist, approvals, limits, audit. Only tools whose
   * `visibility` has `app` can be called. An approval needs the scope `tool:approve`.
   */
  readonly call: (
    agentId: string,
    request: unknown,
    principal: Principal,
    given?: Given,
  ) => Promise<McpAppCallResult>;
}
