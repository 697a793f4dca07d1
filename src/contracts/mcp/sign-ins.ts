/** Sign-ins to MCP servers, as callers of the runtime see them. */

import * as v from 'valibot';
import type { Principal } from '../../base/principal.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));

/** The request for the URL that a person opens to sign in. */
export const McpSignInRequest = v.strictObject({
  /** One of the redirect URIs of the composition, exactly. */
  redirectUri: Text,
  /** The interruption of a run that asked for the sign-in; the run's call can then be continued. */
  interruptionId: v.optional(v.pipe(v.string(), v.maxLength(64))),
});
export type McpSignInRequest = v.InferOutput<typeof McpSignInRequest>;

/** The query parameters with which the person came back. */
export const McpSignInCallback = v.strictObject({
  state: Text,
  code: v.optional(Text),
  error: v.optional(Text),
  iss: v.optional(Text),
});
export type McpSignInCallback = v.InferOutput<typeof McpSignInCallback>;

/** Where a person signs in. */
export interface McpSignInStart {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Caller {
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/**
 * Sign-ins to MCP servers. Only servers with `auth` exist here. A grant for the whole tenant needs the scope `registry:write`.
 */
export interface McpSignIns {
  /** Rejects with `invalid_argument`, `not_found`, `conflict` (`mcp_auth_not_approved`, `mcp_auth_changed`), and as `McpSignIn`. */
  start(serverId: string, request: McpSignInRequest, caller: Caller): Promise<McpSignInStart>;
  /**
   * Finishes a sign-in, once, for the person who started it. Returns the interruption that it answers. Rejects with `not_found`,
   * `forbidden` for another person, `conflict`, and as `McpSignIn`.
   */
  finish(callback: McpSignInCallback, caller: Caller): Promise<{
    readonly serverId: string;
    readonly interruption?: { readonly id: string; readonly runId: string };
  }>;
  grant(serverId: string, caller: Caller): Promise<McpGrant>;
  /** Erases the grant, and revokes it where the authorization server can (RFC 7009). */
  revoke(serverId: string, caller: Caller): Promise<void>;
}

/** The sign-in of a person, or of a tenant, at an MCP server. No token is ever in it. */
export interface McpGrant {
  /** `none`: the caller has not signed in, or something else was approved since. `broken`: sign in again. */
  readonly state: 'none' | 'active' | 'broken';
  readonly grantee: 'user' | 'tenant';
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Of the access token, in milliseconds since 1970, where it is known; it is refreshed before. */
  readonly expiresAt?: number;
}

/** Sign-ins to MCP servers, by the ids of their records. */
export interface RuntimeSignIns {
  /**
   * Returns the URL that the person opens. With an interruption of a run, the sign-in answers it.
   *
   * Rejects with `not_found` for a server without `auth`, `invalid_argument` for an unlisted redirect URI, `conflict` when the server's
   * authorization server is not approved as it is now, `unavailable` when it does not answer.
   */
  readonly start: (serverId: string, request: unknown, principal: Principal) => Promise<McpSignInStart>;
  /**
   * Finishes a sign-in with the query parameters of the redirect, once, for the principal who started it. The chat's next run then
   * continues the call that asked for it.
   *
   * Rejects with `not_found` for an unknown, used or late `state`, `forbidden` for another principal, or when the sign-in was refused.
   */
  readonly finish: (callback: unknown, principal: Principal) => Promise<void>;
  /** The principal's grant, or the tenant's. */
  readonly grant: (serverId: string, principal: Principal) => Promise<McpGrant>;
  /** Erases the grant, and revokes it where the authorization server can. */
  readonly revoke: (serverId: string, principal: Principal) => Promise<void>;
  /**
   * Answers the questions of an interruption of the kind `elicitation`, all at once. The chat's next run sends them with the call.
   *
   * Rejects with `invalid_argument` for answers that do not fit, which leaves the questions open, `forbidden` without the scope
   * `tool:approve`, `not_found`, `already_decided`, and `approval_expired`.
   */
  readonly answer: (runId: string, interruptionId: string, answers: unknown, principal: Principal) => Promise<void>;
}
