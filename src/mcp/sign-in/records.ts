/** The records of sign-ins, and their keys. Tokens, verifiers and client secrets are sealed. */

import { isSameIssuer } from '../../base/check-url.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Key } from '../../base/key.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpAuthPin, McpServer } from '../../base/schema.ts';
import type { Sealed } from './seal.ts';

/** Tokens for one server. */
export interface GrantRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  /** The one of the sign-in: a registered client is found by it. */
  readonly redirectUri: string;
  /** What was granted, separated by spaces. */
  readonly scope: string;
  /** The digest of the approved authorization server. */
  readonly pin: string;
  /** Of the access token, in milliseconds since 1970, when the authorization server says so. */
  readonly expiresAt?: number;
  /** When it is refreshed: a minute before it expires, or after half its life. */
  readonly refreshAt?: number;
  /** `broken`: the authorization server no longer accepts the refresh token. */
  readonly state: 'active' | 'broken';
  readonly sealed: Sealed;
  /** The instance that refreshes the tokens now, and until when it may. */
  readonly lease?: { readonly id: string; readonly until: number };
}

/** The tokens of a grant, before they are sealed. */
export interface SealedTokens {
  readonly access: string;
  readonly refresh?: string;
}

/** A sign-in that a person has started. */
export interface SignInRecord {
  readonly tenant: string;
  readonly subject: string;
  readonly serverId: string;
  readonly issuer: string;
  readonly resource: string;
  readonly scope?: string;
  readonly redirectUri: string;
  readonly pin: string;
  readonly expiresAt: number;
  readonly interruptionId?: string;
  /** The client that the person signs in with; sign-ins of earlier versions lack it. */
  readonly clientId?: string;
  readonly sealed: Sealed;
}

/** A client that an authorization server has registered for a tenant. */
export interface ClientRecord {
  readonly clientId: string;
  readonly authMethod?: string;
  readonly expiresAt?: number;
  readonly sealed?: Sealed;
  /** The first sign-in since the last that was finished; `at` is 0 when the client is known to be lost. */
  readonly opened?: { readonly at: number; readonly interruptionId?: string };
}

/** What a person saw when signing in. */
export interface ConsentRecord {
  readonly issuer: string;
  readonly scope: string;
  readonly at: number;
  readonly pin: string;
}

/** Whose grant a run uses: its person's, or the tenant's. */
export function granteeOf({ auth }: McpServer, { subject }: Principal): string {
  return auth?.grantee === 'tenant' ? '*' : `u:${subject}`;
}

/** The key of a grant. */
export function grantKey(server: McpServer, principal: Principal): Key {
  return ['mcp-grant', principal.tenant, granteeOf(server, principal), server.id];
}

/** The key of a consent. */
export function consentKey(server: McpServer, { tenant, subject }: Principal): Key {
  return ['mcp-consent', tenant, subject, server.id];
}

/** The key of a started sign-in. The state itself is stored nowhere. */
export async function signInKey(state: string): Promise<Key> {
  return ['mcp-sign-in', await sha256(state)];
}

/** The key of a registered client. */
export async function clientKey(tenant: string, issuer: string, redirectUri: string): Promise<Key> {
  return ['mcp-client', tenant, await sha256(canonicalJson([issuer, redirectUri]))];
}

/** The same, with its lists in an order of their own: some servers list the same in another order each time. */
export function inListOrder({ scopes, tokenAuthMethods, ...auth }: McpAuthPin): McpAuthPin {
  return { ...auth, scopes: scopes.toSorted(), tokenAuthMethods: tokenAuthMethods.toSorted() };
}

/** Whether people sign in where they did when it was approved. */
export function isSameAuth(a: McpAuthPin, b: McpAuthPin): boolean {
  if (!isSameIssuer(a.issuer, b.issuer)) return false; // earlier pins have the issuer as the record spells it
  return canonicalJson({ ...inListOrder(a), issuer: b.issuer }) === canonicalJson(inListOrder(b));
}

/** The digest of what a person has approved: the server's address, and its authorization server. */
export async function pinDigest({ url, auth, pinned }: McpServer): Promise<string> {
  return await sha256(
    canonicalJson(['mcp-auth/v1', url, auth?.issuer ?? null, auth?.client?.id ?? null, pinned?.auth ?? null]),
  );
}
