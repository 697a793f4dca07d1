/** The port to the authorization servers of MCP servers (OAuth 2.1, RFC 8414, RFC 9728, RFC 8707, RFC 9207). */

import * as v from 'valibot';
import type { Principal } from '../../base/principal.ts';
import type { McpAuthPin } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';

/** Why an MCP server refuses a request: the fields of its `WWW-Authenticate` that matter. */
export interface McpChallenge {
  readonly status: 401 | 403;
  readonly error?: string | undefined;
  /** Scopes, separated by spaces. */
  readonly scope?: string | undefined;
  /** The URL of the server's metadata. */
  readonly resourceMetadata?: string | undefined;
}

/** The client that an authorization server knows. */
export interface McpOAuthClient {
  readonly id: string;
  readonly secret?: Secret | undefined;
  /** How the client authenticates at the token endpoint, when its registration says so. */
  readonly authMethod?: string | undefined;
  /** When its secret expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** The tokens of a grant. The access token may go to the MCP server's origin alone, the refresh token to the token endpoint's. */
export interface McpTokens {
  readonly accessToken: Secret;
  readonly refreshToken?: Secret | undefined;
  readonly expiresInMs?: number | undefined;
  /** What was granted, when the authorization server says so. */
  readonly scope?: string | undefined;
}

/** The answer that the authorization server sent with the person back to the redirect URI. */
interface McpSignInAnswer {
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}

interface Terms {
  readonly signal: AbortSignal;
}

/** The metadata document of a public client (OAuth Client ID Metadata Document, draft-ietf-oauth-client-id-metadata-document). */
export interface McpClientMetadata {
  /** The URL of the document itself. */
  readonly client_id: string;
  readonly client_name: string;
  readonly redirect_uris: readonly string[];
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly token_endpoint_auth_method: 'none';
}

/**
 * Signs people in at authorization servers. Every request goes over the guarded egress to an origin of the pin, follows no redirect,
 * and has a body of at most 64 KiB and 10 seconds. Errors contain no text of the server.
 *
 * Rejects with `unavailable`: `mcp_auth_metadata` for a server without metadata of its own, or metadata at another origin,
 * `mcp_no_client` with the `status` of an authorization server that registers no client,
 * `mcp_auth_unsafe` for a server without PKCE (`S256`) or with an endpoint that is not https, `mcp_auth_invalid` for any other
 * answer; `forbidden`: `mcp_issuer_unlisted` when the MCP server names other issuers only, `mcp_issuer_mismatch` for an answer of
 * another issuer, `mcp_sign_in_refused` when the authorization server or the person refused, `mcp_grant_invalid` for a refresh token
 * that is no longer valid.
 */
export interface McpSignIn {
  /** The redirect URIs that sign-ins may use: pages of the chat back end. */
  readonly redirectUris: readonly string[];
  /** The client id of authorization servers that read a client's metadata document. */
  readonly clientMetadataUrl?: string | undefined;
  /** The document at this URL, where the endpoint serves it. */
  readonly clientMetadata?: McpClientMetadata | undefined;
  /** Reads the metadata of an MCP server and of the one issuer that a person trusts. */
  discover(
    server: { readonly url: string; readonly issuer: string; readonly resourceMetadata?: string | undefined },
    terms: Terms,
  ): Promise<McpAuthPin>;
  register(
    auth: McpAuthPin,
    client: { readonly redirectUri: string; readonly scope?: string | undefined },
    terms: Terms,
  ): Promise<McpOAuthClient>;
  /** Returns the URL that the person opens, and the verifier of PKCE. */
  start(auth: McpAuthPin, request: {
    readonly clientId: string;
    readonly redirectUri: string;
    readonly scope: string | undefined;
    readonly state: string;
  }): Promise<{ readonly url: string; readonly verifier: string }>;
  /** Compares the issuer before anything else of the answer is read, then exchanges the code. */
  finish(
    auth: McpAuthPin,
    exchange: Terms & {
      readonly client: McpOAuthClient;
      readonly answer: McpSignInAnswer;
      readonly verifier: string;
      readonly redirectUri: string;
      readonly serverUrl: string;
    },
  ): Promise<McpTokens>;
  refresh(
    auth: McpAuthPin,
    exchange: Terms & {
      readonly client: McpOAuthClient;
      readonly refreshToken: Secret;
      /** What was granted, separated by spaces. */
      readonly scope?: string | undefined;
      readonly serverUrl: string;
    },
  ): Promise<McpTokens>;
  /** Revokes a token (RFC 7009), where the authorization server can. */
  revoke(
    auth: McpAuthPin,
    revocation: Terms & { readonly client: McpOAuthClient; readonly token: Secret },
  ): Promise<void>;
}

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));

/** The request for the URL that a person opens to sign in. */
export const McpSignInRequest = v.strictObject({
  /** One of the redirect URIs of the composition, exactly. */
  redirectUri: Text,
  /** The interruption of a run that asked for the sign-in; the run's call can then be continued. */
  interruptionId: v.optional(v.pipe(v.string(), v.maxLength(64))),
});
export type McpSignInRequest = v.InferOutput<typeof McpSignInRequest>;

/** The query parameters with which the person came back. Others than these are ignored (RFC 6749, 4.1.2). */
export const McpSignInCallback = v.object({
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
