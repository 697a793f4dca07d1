/** The errors of connections to MCP servers. None contains text of the server. */

import { PinnaceError } from '../../src/base/errors.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { readRetryAfter } from '../../src/base/with-retries.ts';

export function invalidAnswer(why: string): PinnaceError {
  return unavailable('mcp_invalid_answer', why, { retryable: false });
}

export function unanswered(): PinnaceError {
  return unavailable('mcp_unanswered', 'it ended its answer before the result');
}

/** The error of a request that the server refuses because it no longer knows the session: it did nothing else. */
export function sessionExpired(cause?: unknown): PinnaceError {
  return unavailable('mcp_session_expired', 'it no longer knows the session; the next call starts another', { cause });
}

/** The error of a response that cannot go on, because the server no longer knows the session. */
export function sessionLost(): PinnaceError {
  return unavailable('mcp_session_lost', 'it no longer knows the session, and its answer has broken off');
}

/** Whether the error ends the session: `expired` when the server has refused the request for it, `lost` when it may have acted. */
export function endOfSession(error: unknown): 'expired' | 'lost' | undefined {
  const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
  return reason === 'mcp_session_expired' ? 'expired' : reason === 'mcp_session_lost' ? 'lost' : undefined;
}

export function protocolUnsupported(): PinnaceError {
  return unavailable('protocol_unsupported', 'it speaks no revision of MCP that this connector knows', {
    retryable: false,
  });
}

export function connectionClosed(): PinnaceError {
  return new PinnaceError('cancelled', 'Cannot use the MCP server: the connection is closed');
}

export function tooMuch(why: string, details: Readonly<Record<string, unknown>>): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot use the MCP server: ${why}`, { details });
}

export function notOurs(): PinnaceError {
  return new PinnaceError('forbidden', "Cannot send the request: it does not go to the MCP server's own URL", {
    details: { reason: 'mcp_other_url' },
  });
}

export function statusError(answer: Response): PinnaceError {
  const { status } = answer;
  if (status === 401 || status === 403) {
    const why = `it refuses the caller (status ${status}): check the secret of its record, or let people sign in`;
    return unavailable('mcp_auth', why, { retryable: false });
  }
  if (status === 429) {
    return new PinnaceError('rate_limited', 'Cannot use the MCP server: it limits the rate of requests', {
      details: { reason: 'mcp_rate_limited' },
      ...retryAfterOf(answer),
    });
  }
  const details = { status };
  if (status >= 500 || status === 408) {
    return unavailable('mcp_failed', `it answers ${status}`, { details, ...retryAfterOf(answer) });
  }
  const isElsewhere = status === 404 || status === 405;
  const hint = isElsewhere ? '; check that its URL is the one of Streamable HTTP, not of the older SSE transport' : '';
  return unavailable('mcp_refused', `it answers ${status}${hint}`, { details, retryable: false });
}

function retryAfterOf({ headers }: Response): { readonly retryAfterMs?: number } {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), { date: headers.get('date'), now: Date.now() });
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** The codes of JSON-RPC and MCP that matter here. */
const rpc = { methodNotFound: -32601, invalidParams: -32602, unsupportedVersion: -32022, unknownResource: -32002 };

const readMethods = new Set(['resources/read', 'prompts/get', 'completion/complete']);

export function rpcError(code: number, method: string): PinnaceError {
  const unknown = code === rpc.methodNotFound || code === rpc.invalidParams;
  const details = { rpcCode: code };
  if (code === rpc.unsupportedVersion || (method === 'initialize' && unknown)) return protocolUnsupported();
  if (readMethods.has(method) && (code === rpc.invalidParams || code === rpc.unknownResource)) {
    return new PinnaceError(
      'not_found',
      'Cannot read from the MCP server: it does not know this, or refuses the arguments',
      {
        details: { reason: 'mcp_unknown_content', ...details },
      },
    );
  }
  if (method !== 'tools/call' || !unknown) {
    return unavailable('mcp_error', `it answers with the error ${code}`, { details, retryable: false });
  }
  if (code === rpc.invalidParams) {
    return new PinnaceError('invalid_argument', 'Cannot call the tool: its MCP server refuses the input', {
      details: { reason: 'mcp_invalid_input', ...details },
    });
  }
  return new PinnaceError('not_found', 'Cannot call the tool: its MCP server refuses it as unknown', {
    details: { reason: 'mcp_unknown_tool', ...details },
  });
}

function unavailable(
  reason: string,
  why: string,
  { retryable = true, details = {}, cause, retryAfterMs }: {
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly cause?: unknown;
  } = {},
): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the MCP server: ${why}`, {
    retryable,
    details: { reason, ...details },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(cause !== undefined && { cause }),
  });
}

export function unusableMetadata(why: string): PinnaceError {
  return signInFailed('mcp_auth_metadata', why);
}

export function unsafeServer(why: string): PinnaceError {
  return signInFailed('mcp_auth_unsafe', why);
}

export function refusedRegistration(status: number): PinnaceError {
  const why =
    'its authorization server refuses to register a client; register one by hand, and write it into "auth.client"';
  return signInFailed('mcp_no_client', why, { status, retryable: status === 429 || status >= 500 });
}

export function invalidAuthAnswer(cause?: unknown): PinnaceError {
  const { oauthError } = errorCode(cause);
  const retryable = oauthError === 'temporarily_unavailable' || oauthError === 'server_error';
  const why = retryable ? 'fails at the moment; try again' : 'answers something other than OAuth';
  const isOurs = cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError; // others quote the server
  const facts = { ...(oauthError !== undefined && { oauthError }), ...(isOurs && { cause }), retryable };
  return signInFailed('mcp_auth_invalid', `its authorization server ${why}`, facts);
}

/** The codes that OAuth defines (RFC 6749, 4.1.2.1 and 5.2; RFC 8707). No other text of a server is passed on. */
const oauthErrors: ReadonlySet<unknown> = new Set(
  ('invalid_request unauthorized_client access_denied unsupported_response_type invalid_scope server_error ' +
    'temporarily_unavailable invalid_client invalid_grant unsupported_grant_type invalid_target').split(' '),
);

/** The error of OAuth that a refusal of tokens is: what passes is told apart from what only another sign-in ends. */
export function refusalOf(error: unknown, status: number): string {
  const isPassing = status >= 500 || status === 429 || status === 408;
  return errorCode(error).oauthError ?? (isPassing ? 'temporarily_unavailable' : 'invalid_request');
}

function errorCode(error: unknown): { readonly oauthError?: string } {
  const code = isRecord(error) ? error['code'] : error;
  const known = typeof code === 'string' ? code.toLowerCase() : '';
  return oauthErrors.has(known) ? { oauthError: known } : {};
}

export function unlistedIssuer(issuers: readonly string[]): PinnaceError {
  const hosts = issuers.slice(0, 5).map((issuer) => URL.parse(issuer)?.host ?? '').filter((host) => host !== '');
  return new PinnaceError(
    'forbidden',
    'Cannot sign in to the MCP server: it names another authorization server; write that one into "auth.issuer" to trust it',
    { details: { reason: 'mcp_issuer_unlisted', hosts } },
  );
}

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

export function invalidGrant(): PinnaceError {
  return new PinnaceError('forbidden', 'Cannot use the MCP server: the sign-in is no longer valid; sign in again', {
    details: { reason: 'mcp_grant_invalid' },
  });
}

function signInFailed(
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
