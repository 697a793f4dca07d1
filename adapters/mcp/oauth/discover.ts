/** Reads where people sign in to an MCP server: its own metadata, and that of the one issuer that a person trusts. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { isSameIssuer } from '../../../src/base/check-url.ts';
import type { McpAuthPin } from '../../../src/base/schema.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '../sdk-2026.ts';
import { unlistedIssuer, unsafeServer, unusableMetadata } from './failures.ts';
import { createOAuthFetch } from './oauth-fetch.ts';

/** What is looked for, and how it is reached. */
export interface DiscoverOptions {
  readonly url: string;
  readonly issuer: string;
  readonly resourceMetadata?: string | undefined;
  readonly egress: Egress;
  readonly signal: AbortSignal;
  /** Whether tokens may go to this URL. */
  readonly isSafe: (url: URL) => boolean;
}

/** Returns what a person approves. Rejects as `McpSignIn.discover` does, or with an error of the library. */
export async function discover(options: DiscoverOptions): Promise<McpAuthPin> {
  const { issuer, resourceMetadata } = options;
  const { resource, authorization_servers: issuers = [], scopes_supported: scopes = [] } = await readResource(options);
  if (issuers.length === 0) throw unusableMetadata('its metadata names no authorization server');
  const listed = issuers.find((one) => isSameIssuer(one, issuer));
  if (listed === undefined) throw unlistedIssuer(issuers); // shown to a person, and not fetched
  const metadata = await readServer({ ...options, issuer: listed });
  if (metadata === undefined) throw unusableMetadata('its authorization server has no metadata');
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

/** Without metadata of its own, an MCP server has not said for whom its tokens are, and whom to trust with them. */
async function readResource({ url, resourceMetadata, egress, signal }: DiscoverOptions) {
  const { origin } = new URL(url);
  if (resourceMetadata !== undefined && URL.parse(resourceMetadata)?.origin !== origin) {
    throw unusableMetadata('its metadata is at another origin than its own');
  }
  const fetch = createOAuthFetch({ egress, origin, signal });
  const metadata = await discoverOAuthProtectedResourceMetadata(url, {
    ...(resourceMetadata !== undefined && { resourceMetadataUrl: resourceMetadata }),
  }, fetch).catch((error: unknown) => {
    const known = error instanceof Error ? [error, error.cause].find((one) => one instanceof PinnaceError) : undefined;
    throw known ?? unusableMetadata('it does not say where people sign in to it');
  });
  if (!checkResourceAllowed({ requestedResource: url, configuredResource: metadata.resource })) {
    throw unusableMetadata('its metadata is of another resource');
  }
  return metadata;
}

async function readServer({ issuer, egress, signal, isSafe }: DiscoverOptions) {
  const parsed = URL.parse(issuer);
  if (parsed === null || !isSafe(parsed)) throw unsafeServer('its authorization server is not at an https address');
  const fetchFn = createOAuthFetch({ egress, origin: parsed.origin, signal });
  return await discoverAuthorizationServerMetadata(issuer, { fetchFn });
}

function safeUrl(text: unknown, { isSafe }: DiscoverOptions): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || !isSafe(url)) {
    throw unsafeServer('an endpoint of its authorization server is not at an https address');
  }
  return String(text);
}
