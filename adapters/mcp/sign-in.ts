/** Signs people in to MCP servers, by the single OAuth functions of `@modelcontextprotocol/client`. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isPrivateOriginAllowed } from '../../src/base/origins.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { McpClientMetadata, McpSignIn } from '../../src/contracts/mcp/sign-in.ts';
import { invalidAuthAnswer, invalidGrant, otherIssuer } from './failures.ts';

export type { McpSignIn } from '../../src/contracts/mcp/sign-in.ts';

/** The options of `mcpSignIn`. */
export interface McpSignInOptions {
  /** The guarded egress; every request goes through it. */
  readonly egress: Egress;
  /** The redirect URIs of the chat back end; a sign-in names one of them exactly. */
  readonly redirectUris: readonly string[];
  /**
   * The public https URL of the endpoint, such as `https://agents.example.com`. Its `/oauth/client.json` is then the client id of
   * authorization servers that read metadata documents; `createHandler` serves it with the same `mcpSignIn`.
   */
  readonly endpointUrl?: string;
  /** A metadata document that you serve yourself, an https URL, instead of that of `endpointUrl`. */
  readonly clientMetadataUrl?: string;
  /** The name that people see when they sign in; `Pinnace` when absent. */
  readonly clientName?: string;
  /** Origins on this machine whose authorization servers need no https, as those of the egress; for development. */
  readonly loopback?: readonly string[];
}

/**
 * Creates the client of authorization servers.
 *
 * @throws PinnaceError `invalid_argument` for a redirect URI or an `endpointUrl` that is neither https nor of this machine.
 * @example
 * const signIn = mcpSignIn({ egress: denoEgress(), redirectUris: ['https://chat.example.com/mcp/callback'] });
 */
export function mcpSignIn(options: McpSignInOptions): McpSignIn {
  checkNames(
    'sign people in to MCP servers',
    options,
    optional('egress', 'redirectUris', 'clientName', 'clientMetadataUrl', 'loopback', 'endpointUrl'),
  );
  const { egress, redirectUris, clientName = 'Pinnace', loopback = [] } = options;
  const clientMetadata = options.clientMetadataUrl === undefined ? metadataOf(options, clientName) : undefined;
  const clientMetadataUrl = options.clientMetadataUrl ?? clientMetadata?.client_id;
  checkUrls([...redirectUris, ...(clientMetadataUrl === undefined ? [] : [clientMetadataUrl])]);
  const allowed = [...loopback, ...egress.privateOrigins ?? []];
  const isSafe = (url: URL): boolean =>
    url.username === '' && url.password === '' && (url.protocol === 'https:' || isPrivateOriginAllowed(url, allowed));
  return {
    redirectUris,
    clientMetadataUrl,
    clientMetadata,
    discover: (server, { signal }) =>
      withOAuth(async () => {
        const { discover } = await load();
        return await discover({ ...server, egress, signal, isSafe });
      }),
    register: (auth, client, { signal }) =>
      withOAuth(async () => (await load()).register(auth, { ...client, clientName, signal }, egress)),
    start: (auth, request) => withOAuth(async () => (await load()).start(auth, request)),
    finish: (auth, exchange) => withOAuth(async () => (await load()).finish(auth, exchange, egress)),
    refresh: (auth, exchange) => withOAuth(async () => (await load()).refresh(auth, exchange, egress)),
    revoke: (auth, revocation) => withOAuth(async () => (await load()).revoke(auth, revocation, egress)),
  };
}

const load = /* @__PURE__ */ loadOnce(() => import('./oauth.ts'));

/** The library's errors quote the authorization server, so they are mapped by kind; its own mistakes stay as the cause. */
async function withOAuth<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PinnaceError) throw error;
    if (!(error instanceof Error)) throw invalidAuthAnswer();
    if (error.cause instanceof PinnaceError) throw error.cause;
    if ('expected' in error && 'received' in error) throw otherIssuer();
    if ('code' in error && error.code === 'invalid_grant') throw invalidGrant();
    throw invalidAuthAnswer(error);
  }
}

function metadataOf({ endpointUrl, redirectUris }: McpSignInOptions, name: string): McpClientMetadata | undefined {
  if (endpointUrl === undefined) return undefined;
  if (/[?#]/.test(endpointUrl)) throw invalidUrl(endpointUrl);
  return {
    client_id: `${endpointUrl.replace(/\/$/, '')}/oauth/client.json`,
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

function checkUrls(urls: readonly string[]): void {
  const wrong = urls.find((text) => {
    const url = URL.parse(text);
    const isHttp = url?.protocol === 'http:' && loopbackHosts.has(url.hostname);
    return url === null || url.hash !== '' || url.username !== '' || !(url.protocol === 'https:' || isHttp);
  });
  if (wrong !== undefined) throw invalidUrl(wrong);
}

function invalidUrl(text: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot sign people in with ${
      JSON.stringify(text)
    }: use an https address without a fragment, for an endpoint without a query`,
    { details: { reason: 'invalid_redirect_uri' } },
  );
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
