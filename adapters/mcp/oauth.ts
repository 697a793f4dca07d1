/** Reads where people sign in to an MCP server: its own metadata, and that of the one issuer that a person trusts. */

import { isSameIssuer } from '../../src/base/check-url.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord } from '../../src/base/is-record.ts';
import { readText } from '../../src/base/read-text.ts';
import type { McpAuthPin } from '../../src/base/schema.ts';
import { requireDestination } from '../../src/base/origins.ts';
import { Secret } from '../../src/base/secret.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { McpChallenge, McpOAuthClient, McpSignIn, McpTokens } from '../../src/contracts/mcp/sign-in.ts';
import {
  invalidAuthAnswer,
  refusalOf,
  refusedRegistration,
  refusedSignIn,
  unlistedIssuer,
  unsafeServer,
  unusableMetadata,
} from './failures.ts';
import { isSet } from './messages.ts';
import { type AuthorizationServerMetadata, mcpClientLibrary } from './sdk-2026.ts';

interface DiscoverOptions {
  readonly url: string;
  readonly issuer: string;
  readonly resourceMetadata?: string | undefined;
  readonly egress: Egress;
  readonly signal: AbortSignal;
  readonly isSafe: (url: URL) => boolean;
}

/** Returns what a person approves. Rejects as `McpSignIn.discover` does, or with an error of the library. */
export async function discover(options: DiscoverOptions): Promise<McpAuthPin> {
  const { issuer, resourceMetadata } = options;
  const {
    resource,
    authorization_servers: issuers = [],
    scopes_supported: scopes = [],
    isOwnIssuer = false,
  }: ResourceMetadata = await readResource(options);
  if (issuers.length === 0) throw unusableMetadata('its metadata names no authorization server');
  const listed = issuers.find((one) => isSameIssuer(one, issuer));
  if (listed === undefined) throw unlistedIssuer(issuers); // shown to a person, and not fetched
  const metadata = await readServer({ ...options, issuer: listed, isOwnIssuer });
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw unsafeServer('its authorization server does not support PKCE with S256');
  }
  if (!isSameIssuer(metadata.issuer, issuer)) {
    throw unusableMetadata('its authorization server calls itself another issuer');
  }
  const safe = (text: unknown): string => safeUrl(text, options);
  const { registration_endpoint: registration, revocation_endpoint: revocation } = metadata as {
    readonly registration_endpoint?: unknown;
    readonly revocation_endpoint?: unknown; // the library's type of one kind of metadata lacks it
  };
  return {
    issuer: metadata.issuer, // as it names itself: its answers are compared with this, to the last character (RFC 9207, 2.4)
    resource,
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    authorizationEndpoint: safe(metadata.authorization_endpoint),
    tokenEndpoint: safe(metadata.token_endpoint),
    ...(registration !== undefined && { registrationEndpoint: safe(registration) }),
    ...(revocation !== undefined && { revocationEndpoint: safe(revocation) }),
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    clientIdMetadataDocument: metadata.client_id_metadata_document_supported === true,
    offlineAccess: metadata.scopes_supported?.includes('offline_access') === true,
    tokenAuthMethods: (metadata.token_endpoint_auth_methods_supported ?? []).slice(0, maxItems),
    scopes: scopes.slice(0, maxItems),
  };
}

const maxItems = 200;

interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers?: readonly string[] | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  /** Whether the server has no metadata, and issues its tokens itself. */
  readonly isOwnIssuer?: boolean;
}

/**
 * Without metadata of its own, an MCP server has not said for whom its tokens are, and whom to trust with them. Only servers of
 * 2025-03-26 need none: they issue their tokens themselves, at their own origin.
 */
async function readResource(
  { url, issuer, resourceMetadata, egress, signal }: DiscoverOptions,
): Promise<ResourceMetadata> {
  const { origin } = new URL(url);
  if (resourceMetadata !== undefined && URL.parse(resourceMetadata)?.origin !== origin) {
    throw unusableMetadata('its metadata is at another origin than its own');
  }
  const { checkResourceAllowed, discoverOAuthProtectedResourceMetadata } = await mcpClientLibrary();
  const missed: PinnaceError[] = [];
  const fetch = createOAuthFetch({ egress, origin, signal, form: forms.resource, missed });
  const metadata = await discoverOAuthProtectedResourceMetadata(url, {
    ...(resourceMetadata !== undefined && { resourceMetadataUrl: resourceMetadata }),
  }, fetch).catch((error: unknown): ResourceMetadata => {
    const known = error instanceof Error ? [error, error.cause].find((one) => one instanceof PinnaceError) : undefined;
    const failure = known ?? missed[0];
    if (!failure && resourceMetadata === undefined && originOf(issuer) === origin) {
      return { resource: url, authorization_servers: [issuer], isOwnIssuer: true };
    }
    throw failure ?? unknownPlace();
  });
  const configuredResource = metadata.resource.replace(/\/$/, '');
  if (!checkResourceAllowed({ requestedResource: url, configuredResource })) {
    throw unusableMetadata('its metadata is of another resource');
  }
  return metadata;
}

function unknownPlace(): PinnaceError {
  return unusableMetadata('it does not say where people sign in to it');
}

async function readServer(
  { issuer, egress, signal, isSafe, isOwnIssuer }: DiscoverOptions & { readonly isOwnIssuer: boolean },
): Promise<AuthorizationServerMetadata> {
  const parsed = URL.parse(issuer);
  if (parsed === null || !isSafe(parsed)) throw unsafeServer('its authorization server is not at an https address');
  const { discoverAuthorizationServerMetadata } = await mcpClientLibrary();
  const missed: PinnaceError[] = [];
  const fetchFn = createOAuthFetch({ egress, origin: parsed.origin, signal, form: forms.server, missed });
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  if (metadata !== undefined) return metadata;
  if (missed[0] || !isOwnIssuer) throw missed[0] ?? unusableMetadata('its authorization server has no metadata');
  // The default addresses of 2025-03-26, which requires PKCE of all.
  return {
    issuer,
    authorization_endpoint: `${parsed.origin}/authorize`,
    token_endpoint: `${parsed.origin}/token`,
    registration_endpoint: `${parsed.origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

function safeUrl(text: unknown, { isSafe }: DiscoverOptions): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || !isSafe(url)) {
    throw unsafeServer('an endpoint of its authorization server is not at an https address');
  }
  return String(text);
}

export async function start(
  auth: McpAuthPin,
  { clientId, redirectUri, scope, state }: Parameters<McpSignIn['start']>[1],
): Promise<{ readonly url: string; readonly verifier: string }> {
  const { startAuthorization } = await mcpClientLibrary();
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
  const { exchangeAuthorization, validateAuthorizationResponseIssuer } = await mcpClientLibrary();
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
    fetchFn: createOAuthFetch({ egress, origin: new URL(auth.tokenEndpoint).origin, signal, form: forms.tokens }),
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
    fetchFn: createOAuthFetch({ egress, origin, signal, form: forms.tokens }),
  };
  const { refreshAuthorization } = await mcpClientLibrary();
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
  const { registerClient, resolveClientMetadata } = await mcpClientLibrary();
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
  const form = { ...forms.client, more: { redirect_uris: [redirectUri] } };
  const fetchFn = createOAuthFetch({ egress, origin, signal, form });
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
  const { id, secret, authMethod = 'client_secret_basic' } = client;
  const isBasic = secret !== undefined && authMethod === 'client_secret_basic';
  const request = new Request(revocationEndpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: `Basic ${btoa(`${id}:${requireDestination(secret, origin).reveal()}`)}` }),
    },
    body: new URLSearchParams(isBasic ? {} : { client_id: id }),
  });
  const secretFields = { token: [token], ...(secret && !isBasic && { client_secret: [secret] }) };
  const answer = await egress.fetch(request, { ...termsOf(origin, signal), secretFields });
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
    ...(seconds !== undefined && seconds > 0 && { expiresInMs: seconds * 1000 }), // others mean that it does not expire
    ...(scope !== undefined && { scope }),
  };
}

interface OAuthFetchOptions {
  readonly egress: Egress;
  readonly origin: string;
  readonly signal: AbortSignal;
  readonly form: Form;
  /** What was found where metadata may be, and is none. */
  readonly missed?: PinnaceError[];
}

function termsOf(origin: string, signal: AbortSignal) {
  return { origins: [origin], maxBytes: 65_536, timeoutMs: 10_000, redirects: 'refuse', signal } as const;
}

function createOAuthFetch(
  { egress, origin, signal, form, missed = [] }: OAuthFetchOptions,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const terms = termsOf(origin, signal);
  return async (url, { method = 'GET', headers: given, body } = {}) => {
    const headers = new Headers(given);
    headers.delete('mcp-protocol-version'); // the library sends it to discovery, where pages would need a preflight for it
    const request = new Request(url, {
      method,
      headers,
      ...(body instanceof URLSearchParams || typeof body === 'string' ? { body } : {}),
    });
    try {
      // Servers of files call metadata bytes, as its address has no ending.
      const answer = await egress.fetch(request, method === 'GET' ? { ...terms, accept: 'media' } : terms);
      if (!answer.ok && form !== forms.tokens) {
        if (method !== 'GET') return answer;
        await answer.body?.cancel();
        if (answer.status >= 500) {
          missed.push(form === forms.server ? invalidAuthAnswer('temporarily_unavailable') : unknownPlace());
        }
        return nothingHere();
      }
      return await readForm(answer, form) ?? (method === 'GET' ? nothingHere() : Response.json({}));
    } catch (error) {
      const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
      // Metadata has several places, and a page may be kept from one of them: the library then tries the next.
      if (method === 'GET' && reason === 'unreachable') throw new TypeError('unreachable', { cause: error });
      if (method !== 'GET' || !(error instanceof PinnaceError) || !elsewhere.has(reason)) throw error;
      missed.push(error);
      return nothingHere();
    }
  };
}

/** A page, a redirect and failures at one place, its open circuit too, say nothing of the next place. */
const elsewhere: ReadonlySet<unknown> = new Set(['redirect_refused', 'content_type', 'dependency_unavailable']);
const nothingHere = (): Response => new Response(null, { status: 404 });

/** What is read of an answer, and as what. Servers are not exact, and the library is: what nothing reads cannot be wrong. */
interface Form {
  readonly fields: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Without this one it is another answer. */
  readonly key: string;
  /** What the library requires besides. */
  readonly more?: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
const wordsOf = (value: unknown): readonly string[] | undefined => {
  const words = typeof value === 'string' ? value.split(/\s+/) : Array.isArray(value) ? value : [];
  const texts = words.filter((word) => typeof word === 'string' && word !== '');
  return texts.length === 0 ? undefined : texts;
};
const numberOf = (value: unknown): number | undefined => {
  const number = Number(textOf(value) ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
};

const forms = {
  resource: {
    key: 'resource',
    fields: { resource: textOf, authorization_servers: wordsOf, scopes_supported: wordsOf },
  },
  server: {
    key: 'issuer',
    fields: {
      issuer: textOf,
      authorization_endpoint: textOf,
      token_endpoint: textOf,
      registration_endpoint: textOf,
      revocation_endpoint: textOf,
      scopes_supported: wordsOf,
      code_challenge_methods_supported: wordsOf,
      token_endpoint_auth_methods_supported: wordsOf,
      authorization_response_iss_parameter_supported: isSet,
      client_id_metadata_document_supported: isSet,
    },
    more: {
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      jwks_uri: 'https://unused.example',
      id_token_signing_alg_values_supported: ['RS256'],
    },
  },
  client: {
    key: 'client_id',
    fields: {
      client_id: textOf,
      client_secret: textOf,
      client_secret_expires_at: numberOf,
      token_endpoint_auth_method: textOf,
    },
  },
  tokens: {
    key: 'access_token',
    fields: {
      access_token: textOf,
      token_type: textOf,
      refresh_token: textOf,
      expires_in: numberOf,
      scope: (value) => wordsOf(value)?.join(' '),
    },
    more: { token_type: 'Bearer' },
  },
} satisfies Record<string, Form>;

/** Returns the answer as the library reads it; `undefined` for one of another form. Refused tokens are an error of OAuth whatever says so. */
async function readForm(answer: Response, form: Form): Promise<Response | undefined> {
  const data = readFields(await readText(answer.body), answer.headers.get('content-type') ?? '');
  const entries = Object.entries(form.fields).map(([name, read]) => [name, read(data[name])] as const);
  const known = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  if (answer.ok && known[form.key] !== undefined) return Response.json({ ...form.more, ...known });
  if (form !== forms.tokens || (answer.ok && data['error'] === undefined)) return undefined;
  return Response.json({ error: refusalOf(data['error'], answer.status) }, { status: 400 });
}

function readFields(text: string, type: string): Readonly<Record<string, unknown>> {
  if (/^application\/x-www-form-urlencoded/i.test(type)) return Object.fromEntries(new URLSearchParams(text));
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Reads the challenge of a refusal (RFC 9110, 11.6.1), among those for other schemes. Without one for tokens there are no facts. */
export function readChallenge({ status, headers }: Response): McpChallenge {
  const found = new Map<string, string>();
  let scheme = '';
  const header = (headers.get('www-authenticate') ?? '').slice(0, maxChallenge);
  for (const [, name, quoted, plain = '', word] of header.matchAll(challengePart)) {
    if (word !== undefined) scheme = word.toLowerCase();
    const key = `${scheme} ${name?.toLowerCase()}`;
    if (name !== undefined && !found.has(key)) found.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain);
  }
  const valueOf = (name: string) => (found.get(`bearer ${name}`) ?? found.get(`dpop ${name}`)) || undefined;
  const [error, scope] = [valueOf('error'), valueOf('scope')];
  const resourceMetadata = URL.parse(valueOf('resource_metadata') ?? '')?.href;
  return {
    status: status === 403 ? 403 : 401,
    ...(error !== undefined && { error: error.slice(0, 100) }),
    ...(scope !== undefined && { scope }),
    ...(resourceMetadata !== undefined && { resourceMetadata }),
  };
}

const maxChallenge = 8192;
/** A parameter with a quoted or a plain value, or the name of a scheme. */
const challengePart = /([!#$%&'*+.^`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))|([!#$%&'*+.^`|~\w-]+)/g;
