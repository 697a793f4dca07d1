/** The errors of signing in. None contains text of a server; an issuer that a server names is shown as its host. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The error of metadata that may not be used. */
export function unusableMetadata(why: string): PinnaceError {
  return unavailable('mcp_auth_metadata', why);
}

/** The error of an authorization server that does not protect its codes and tokens. */
export function unsafeServer(why: string): PinnaceError {
  return unavailable('mcp_auth_unsafe', why);
}

/** The error of an authorization server that registers no clients. */
export function refusedRegistration(status: number): PinnaceError {
  const why =
    'its authorization server refuses to register a client; register one by hand, and write it into "auth.client"';
  return unavailable('mcp_no_client', why, { status, retryable: status === 429 || status >= 500 });
}

/** The error of an answer that is not what OAuth says. */
export function invalidAuthAnswer(cause?: unknown): PinnaceError {
  const why = 'its authorization server answers something other than OAuth';
  const isOurs = cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError; // others quote the server
  return unavailable('mcp_auth_invalid', why, { ...errorCode(cause), ...(isOurs && { cause }) });
}

/** The codes that OAuth defines (RFC 6749, 4.1.2.1 and 5.2; RFC 8707). No other text of a server is passed on. */
const oauthErrors: ReadonlySet<unknown> = new Set(
  ('invalid_request unauthorized_client access_denied unsupported_response_type invalid_scope server_error ' +
    'temporarily_unavailable invalid_client invalid_grant unsupported_grant_type invalid_target').split(' '),
);

function errorCode(error: unknown): { readonly oauthError?: string } {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : error;
  return typeof code === 'string' && oauthErrors.has(code) ? { oauthError: code } : {};
}

/** The error of an MCP server whose metadata names other authorization servers than the record. */
export function unlistedIssuer(issuers: readonly string[]): PinnaceError {
  const hosts = issuers.slice(0, 5).map((issuer) => URL.parse(issuer)?.host ?? '').filter((host) => host !== '');
  return new PinnaceError(
    'forbidden',
    'Cannot sign in to the MCP server: it names another authorization server; write that one into "auth.issuer" to trust it',
    { details: { reason: 'mcp_issuer_unlisted', hosts } },
  );
}

/** The error of an answer that another authorization server has sent. */
export function otherIssuer(): PinnaceError {
  return new PinnaceError('forbidden', 'Cannot sign in to the MCP server: another authorization server has answered', {
    details: { reason: 'mcp_issuer_mismatch' },
  });
}

/** The error of a sign-in that the person, or the authorization server, refused; with the code of the refusal, where OAuth defines it. */
export function refusedSignIn(code: string | undefined): PinnaceError {
  return new PinnaceError('forbidden', 'Cannot sign in to the MCP server: its authorization server refuses', {
    details: { reason: 'mcp_sign_in_refused', ...errorCode(code) },
  });
}

/** The error of a refresh token that is no longer valid. */
export function invalidGrant(): PinnaceError {
  return new PinnaceError('forbidden', 'Cannot use the MCP server: the sign-in is no longer valid; sign in again', {
    details: { reason: 'mcp_grant_invalid' },
  });
}

function unavailable(
  reason: string,
  why: string,
  { cause, retryable = false, ...facts }: {
    readonly cause?: unknown;
    readonly oauthError?: string;
    readonly status?: number;
    readonly retryable?: boolean;
  } = {},
): PinnaceError {
  return new PinnaceError('unavailable', `Cannot sign in to the MCP server: ${why}`, {
    retryable,
    details: { reason, ...facts },
    ...(cause !== undefined && { cause }),
  });
}
