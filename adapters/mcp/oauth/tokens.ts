/** Exchanges codes and refresh tokens for tokens, and registers clients. */

import { Secret } from '../../../src/base/secret.ts';
import { requireDestination } from '../../../src/base/secret-origins.ts';
import type { McpAuthPin } from '../../../src/base/schema.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import type { McpOAuthClient, McpSignIn, McpTokens } from '../../../src/contracts/mcp/sign-in.ts';
import {
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  resolveClientMetadata,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '../sdk-2026.ts';
import { invalidAuthAnswer, refusedRegistration, refusedSignIn } from './failures.ts';
import { createOAuthFetch } from './oauth-fetch.ts';

/** Returns the URL that the person opens. */
export async function start(
  auth: McpAuthPin,
  { clientId, redirectUri, scope, state }: Parameters<McpSignIn['start']>[1],
): Promise<{ readonly url: string; readonly verifier: string }> {
  const { authorizationUrl, codeVerifier } = await startAuthorization(auth.issuer, {
    metadata: metadataOf(auth),
    clientInformation: { client_id: clientId },
    redirectUrl: redirectUri,
    state,
    resource: auth.resource, // a text: a URL would add a slash
    ...(scope !== undefined && { scope }),
  });
  return { url: authorizationUrl.href, verifier: codeVerifier };
}

/** Returns the tokens for the code of an answer. The issuer is compared before anything else of it is read. */
export async function finish(
  auth: McpAuthPin,
  { client, answer, verifier, redirectUri, serverUrl, signal }: Parameters<McpSignIn['finish']>[1],
  egress: Egress,
): Promise<McpTokens> {
  const { issuer: expectedIssuer, issParameterSupported } = auth;
  const { iss } = answer;
  validateAuthorizationResponseIssuer({ iss, expectedIssuer, issParameterSupported });
  if (answer.error !== undefined || answer.code === undefined) throw refusedSignIn(answer.error);
  const tokens = await exchangeAuthorization(auth.issuer, {
    metadata: metadataOf(auth),
    clientInformation: informationOf(client, auth),
    authorizationCode: answer.code,
    codeVerifier: verifier,
    redirectUri,
    resource: auth.resource,
    fetchFn: createOAuthFetch({ egress, origin: new URL(auth.tokenEndpoint).origin, signal }),
    ...(iss !== undefined && { iss }),
  });
  return toTokens(tokens, auth, serverUrl);
}

/** Returns new tokens; the refresh token is the old one where the authorization server does not rotate them. */
export async function refresh(
  auth: McpAuthPin,
  { client, refreshToken, scope, serverUrl, signal }: Parameters<McpSignIn['refresh']>[1],
  egress: Egress,
): Promise<McpTokens> {
  const { origin } = new URL(auth.tokenEndpoint);
  const request = {
    metadata: metadataOf(auth),
    clientInformation: informationOf(client, auth),
    refreshToken: requireDestination(refreshToken, origin).reveal(),
    resource: auth.resource,
    fetchFn: createOAuthFetch({ egress, origin, signal }),
  };
  // Some servers want the granted scope again (RFC 6749, 6), and some refuse it after they have granted less.
  const tokens = await refreshAuthorization(auth.issuer, { ...request, ...(scope && { scope }) }).catch(
    (error: unknown) => {
      if (!scope || !(error instanceof Error && 'code' in error && error.code === 'invalid_scope')) throw error;
      return refreshAuthorization(auth.issuer, request);
    },
  );
  return toTokens(tokens, auth, serverUrl);
}

/** Registers a client (RFC 7591). */
export async function register(
  auth: McpAuthPin,
  { redirectUri, scope, clientName, signal }: {
    readonly redirectUri: string;
    readonly scope?: string | undefined;
    readonly clientName: string;
    readonly signal: AbortSignal;
  },
  egress: Egress,
): Promise<McpOAuthClient> {
  const origin = originOf(auth.registrationEndpoint ?? '');
  const { tokenAuthMethods: methods } = auth;
  const clientMetadata = resolveClientMetadata({
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      ...(methods.length > 0 && methods.every((method) => method === 'none') && { token_endpoint_auth_method: 'none' }),
    },
  });
  const fetchFn = createOAuthFetch({ egress, origin, signal });
  const registered = await registerClient(auth.issuer, {
    metadata: metadataOf(auth),
    clientMetadata,
    fetchFn,
    ...(scope !== undefined && { scope }),
  }).catch((error: unknown) => {
    const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
    throw status >= 400 ? refusedRegistration(status) : error;
  });
  const { client_id: id, client_secret: value, client_secret_expires_at: expiresAt = 0 } = registered;
  return {
    id,
    ...(value !== undefined &&
      { secret: new Secret({ id: 'mcp-client', version: '', value, origins: [originOf(auth.tokenEndpoint)] }) }),
    ...(typeof registered.token_endpoint_auth_method === 'string' &&
      { authMethod: registered.token_endpoint_auth_method }),
    ...(expiresAt > 0 && { expiresAt: expiresAt * 1000 }),
  };
}

/** Revokes a token. The library has no function for it; a public client names itself, another also proves itself. */
export async function revoke(
  { revocationEndpoint }: McpAuthPin,
  { client, token, signal }: Parameters<McpSignIn['revoke']>[1],
  egress: Egress,
): Promise<void> {
  if (revocationEndpoint === undefined) return;
  const origin = originOf(revocationEndpoint);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { id, secret, authMethod = 'client_secret_basic' } = client;
  const isBasic = secret !== undefined && authMethod === 'client_secret_basic';
  const request = new Request(revocationEndpoint, {
    method: 'POST',
    headers: {
      ...headers,
      ...(isBasic && { authorization: `Basic ${btoa(`${id}:${requireDestination(secret, origin).reveal()}`)}` }),
    },
    body: new URLSearchParams(isBasic ? {} : { client_id: id }),
  });
  const secretFields = { token: [token], ...(secret && !isBasic && { client_secret: [secret] }) };
  const terms = { origins: [origin], maxBytes: 65_536, timeoutMs: 10_000, redirects: 'refuse', signal } as const;
  const answer = await egress.fetch(request, { ...terms, secretFields });
  await answer.body?.cancel().catch(() => {});
  if (!answer.ok) throw invalidAuthAnswer();
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? '';
}

/** The metadata as the library takes it: of the pin alone. */
function metadataOf(auth: McpAuthPin) {
  return {
    issuer: auth.issuer,
    authorization_endpoint: auth.authorizationEndpoint,
    token_endpoint: auth.tokenEndpoint,
    ...(auth.registrationEndpoint !== undefined && { registration_endpoint: auth.registrationEndpoint }),
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: auth.issParameterSupported,
    ...(auth.tokenAuthMethods.length > 0 && { token_endpoint_auth_methods_supported: [...auth.tokenAuthMethods] }),
  };
}

/** The only place where a client's secret is revealed to the library, which writes it into requests to the token endpoint. */
function informationOf({ id, secret, authMethod }: McpOAuthClient, { tokenEndpoint }: McpAuthPin) {
  return {
    client_id: id,
    ...(secret && { client_secret: requireDestination(secret, originOf(tokenEndpoint)).reveal() }),
    ...(authMethod !== undefined && { token_endpoint_auth_method: authMethod, redirect_uris: [] }),
  };
}

const maxTokenLength = 16_384;

function toTokens(
  { token_type: type, access_token: access, refresh_token: renew, expires_in: seconds, scope }: {
    readonly token_type: string;
    readonly access_token: string;
    readonly refresh_token?: string | undefined;
    readonly expires_in?: number | undefined;
    readonly scope?: string | undefined;
  },
  { tokenEndpoint }: McpAuthPin,
  serverUrl: string,
): McpTokens {
  const texts = [access, renew ?? ''];
  const isFit = texts.every((text) => text.length <= maxTokenLength && /^[\x21-\x7e]*$/.test(text));
  if (type.toLowerCase() !== 'bearer' || access === '' || !isFit) throw invalidAuthAnswer();
  return {
    accessToken: new Secret({ id: 'mcp-access-token', version: '', value: access, origins: [originOf(serverUrl)] }),
    ...(renew && {
      refreshToken: new Secret({
        id: 'mcp-refresh-token',
        version: '',
        value: renew,
        origins: [originOf(tokenEndpoint)],
      }),
    }),
    ...(seconds !== undefined && { expiresInMs: seconds * 1000 }),
    ...(scope !== undefined && { scope }),
  };
}
