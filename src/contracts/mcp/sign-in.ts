/** The port to the authorization servers of MCP servers (OAuth 2.1, RFC 8414, RFC 9728, RFC 8707, RFC 9207). */

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
export interface McpSignInAnswer {
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
