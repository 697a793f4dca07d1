/** Why a sign-in failed, for people. */

import { toData } from '../../../src/base/errors.ts';

/** Returns what happened, and what to do. */
export function signInProblem(error: unknown, issuerHost: string): string {
  const { message, details } = toData(error);
  const reason = details?.['reason'];
  const isKnown = typeof reason === 'string' && Object.hasOwn(texts, reason);
  const text = isKnown ? texts[reason]?.(issuerHost, details?.['oauthError']) : undefined;
  return text ?? (message.endsWith('.') ? message : `${message}.`);
}

type Words = (host: string, oauthError: unknown) => string;

const texts: Readonly<Record<string, Words>> = {
  mcp_sign_in_refused: (host, code) => {
    if (code === 'access_denied') return `You are not signed in: you did not allow access at ${host}.`;
    const named = typeof code === 'string' ? ` (${code})` : '';
    return `${host} could not sign you in${named}. Try again, or ask its operator.`;
  },
  mcp_sign_in_not_found: () =>
    'The sign-in took longer than ten minutes, or the page was reloaded meanwhile. Sign in again.',
  mcp_sign_in_of_another: () => 'Another user started this sign-in. Sign in again.',
  mcp_issuer_mismatch: (host) => `A server other than ${host} answered. You are not signed in.`,
  mcp_issuer_unlisted: (host) =>
    `The server no longer uses ${host} for sign-in. Check it in the registry, and approve it again.`,
  mcp_auth_changed: (host) =>
    `The sign-in at ${host} has changed since it was approved. Check the server in the registry.`,
  mcp_auth_not_approved: () =>
    'Sign-in to this server is not approved. Open the server in the registry and choose Validate.',
  mcp_no_client: (host) =>
    `${host} does not register this page. Register a client there, and enter its id in the server’s record.`,
  mcp_auth_unsafe: (host) => `${host} does not protect sign-ins as the MCP specification requires (PKCE, https).`,
  mcp_auth_invalid: (host, code) =>
    code === 'invalid_grant'
      ? `${host} did not accept the sign-in. Sign in again.`
      : `${host} sent an unexpected OAuth response.`,
  unreachable: (host) =>
    `${host} or the MCP server did not answer this page. It may be offline, or not allow web pages (CORS). An endpoint can sign in to it.`,
  vault_locked: () => 'The vault is locked. Open it in the registry under Secrets, then sign in again.',
  redirect_uri_unlisted: () =>
    `This endpoint does not accept sign-ins from this page. Its operator adds ${
      new URL('oauth/callback.html', document.baseURI).href
    } to “redirectUris”.`,
};
