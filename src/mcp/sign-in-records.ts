/** The records of sign-ins, and their keys. Tokens, verifiers and client secrets are sealed. */

import { isSameIssuer } from '../base/check-url.ts';
import { PinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { McpAuthPin, McpServer, SecretRef } from '../base/schema.ts';
import { requireDestination } from '../base/origins.ts';
import type { Interaction } from '../contracts/mcp/answers.ts';
import type { McpSignIn } from '../contracts/mcp/sign-in.ts';
import type { SecretSource } from '../contracts/egress.ts';
import type { Storage } from '../contracts/storage.ts';
import { fromBase64, toBase64 } from '../base/base64.ts';

export interface GrantRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  /** The one of the sign-in: a registered client is found by it. */
  readonly redirectUri: string;
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

export interface SealedTokens {
  readonly access: string;
  readonly refresh?: string;
}

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

export interface ClientRecord {
  readonly clientId: string;
  readonly authMethod?: string;
  readonly expiresAt?: number;
  readonly sealed?: Sealed;
  /** The first sign-in since the last that was finished; `at` is 0 when the client is known to be lost. */
  readonly opened?: { readonly at: number; readonly interruptionId?: string };
}

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

export function grantKey(server: McpServer, principal: Principal): Key {
  return ['mcp-grant', principal.tenant, granteeOf(server, principal), server.id];
}

export function consentKey(server: McpServer, { tenant, subject }: Principal): Key {
  return ['mcp-consent', tenant, subject, server.id];
}

/** The key of a started sign-in. The state itself is stored nowhere. */
export async function signInKey(state: string): Promise<Key> {
  return ['mcp-sign-in', await sha256(state)];
}

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

export interface Sealed {
  /** The digest of the key, shortened. */
  readonly kid: string;
  /** The version under which the secret source has the key. */
  readonly keyVersion: string;
  /** Base64. */
  readonly iv: string;
  readonly data: string;
}

export type Seals = ReturnType<typeof createSeals>;

interface SealsOptions {
  readonly secrets: SecretSource | undefined;
  /** 32 random bytes as base64url, bound to `code`. A new version seals; earlier ones still open. */
  readonly sealKey: SecretRef;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

export function createSeals(options: SealsOptions) {
  return {
    /** `bound`: facts that `open` must be given again, such as the key of the record; they are not part of the result. */
    async seal(value: unknown, bound: readonly unknown[]): Promise<Sealed> {
      const { key, kid, keyVersion } = await keyOf(options.sealKey, options);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const data = new TextEncoder().encode(JSON.stringify(value));
      const sealed = await crypto.subtle.encrypt({ name, iv, additionalData: toBytes([kid, ...bound]) }, key, data);
      return { kid, keyVersion, iv: toBase64(iv), data: toBase64(new Uint8Array(sealed)) };
    },
    /** Returns `undefined` for a value that was changed, moved to another record, or sealed with a key that is gone. */
    async open({ kid, keyVersion, iv, data }: Sealed, bound: readonly unknown[]): Promise<unknown> {
      const found = await keyNamed({ kid, keyVersion }, options);
      if (found === undefined) return undefined;
      try {
        const facts = { name, iv: bytesOf(iv), additionalData: toBytes([kid, ...bound]) };
        const opened = await crypto.subtle.decrypt(facts, found, bytesOf(data));
        return JSON.parse(new TextDecoder().decode(opened));
      } catch {
        return undefined;
      }
    },
  };
}

const name = 'AES-GCM';
function toBytes(bound: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`pinnace/seal/v1\n${canonicalJson(bound)}`);
}

/** The one place that reveals the key, to the platform's cryptography. */
async function keyOf(
  ref: SecretRef,
  { secrets, tenant, signal }: SealsOptions,
): Promise<{ readonly key: CryptoKey; readonly kid: string; readonly keyVersion: string }> {
  if (secrets === undefined) throw unusableKey(ref.id, 'the composition has no secrets');
  const secret = requireDestination(await secrets.resolve(ref, { scope: { tenant, agentId: '' }, signal }), undefined);
  const bytes = bytesOf(secret.reveal());
  if (bytes.length !== 32) throw unusableKey(ref.id, 'it must be 32 bytes as base64url');
  const key = await crypto.subtle.importKey('raw', bytes, name, false, ['encrypt', 'decrypt']);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return { key, kid: toBase64(digest.subarray(0, 9)), keyVersion: secret.version };
}

/** The key that sealed a value: the current one, or an earlier one of the source. */
async function keyNamed(
  { kid, keyVersion }: Pick<Sealed, 'kid' | 'keyVersion'>,
  options: SealsOptions,
): Promise<CryptoKey | undefined> {
  const current = await keyOf(options.sealKey, options);
  if (current.kid === kid) return current.key;
  try {
    const earlier = await keyOf({ id: options.sealKey.id, version: keyVersion }, options);
    return earlier.kid === kid ? earlier.key : undefined;
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'not_found') return undefined; // it was removed
    throw error;
  }
}

/** Empty for what is not base64. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.trim().replaceAll('-', '+').replaceAll('_', '/')) ?? new Uint8Array();
}

function unusableKey(id: string, why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot seal with the secret "${id}": ${why}`, {
    retryable: false,
    details: { reason: 'seal_key_unusable', secret: id },
  });
}

export interface SignInContext {
  readonly oauth: McpSignIn;
  readonly storage: Storage;
  readonly secrets: SecretSource | undefined;
  readonly seals: (tenant: string) => Seals;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What a refused call would need. */
export interface WantedSignIn {
  readonly serverId: string;
  /** Scopes that the server has asked for, separated by spaces. */
  readonly scope?: string | undefined;
  /** Those of them that were not granted yet. */
  readonly added: readonly string[];
  /** Whether the person has signed in, for less. */
  readonly isStepUp: boolean;
}

interface SignInContinuation {
  readonly kind: 'sign_in';
  readonly runId: string;
  readonly tenant: string;
  readonly subject: string;
  readonly serverId: string;
  /** What the server has asked for, separated by spaces. */
  readonly scope?: string;
  /** Whether the person had signed in before, for less. */
  readonly isStepUp: boolean;
}

export function continuationKey(interruptionId: string): Key {
  return ['mcp-continuation', interruptionId];
}

export async function readContinuation(
  storage: Storage,
  interruptionId: string,
): Promise<SignInContinuation | undefined> {
  if (interruptionId.length > 64) return undefined;
  const value = (await storage.get(continuationKey(interruptionId)))?.value as { readonly kind?: unknown } | undefined;
  return value?.kind === 'sign_in' ? value as SignInContinuation : undefined; // safe: this module wrote it
}

export function signInInteraction(
  { server, principal, wanted: { scope, added, isStepUp } }: {
    readonly server: McpServer;
    readonly principal: Principal;
    readonly wanted: WantedSignIn;
  },
  { storage, now }: { readonly storage: Storage; readonly now: () => number },
): Interaction {
  const { id: serverId, alias, url, auth } = server;
  const { tenant, subject } = principal;
  const issuerHost = hostOf(auth?.issuer ?? '');
  const scopes = scope?.split(' ') ?? server.pinned?.auth?.requested ?? server.pinned?.auth?.scopes ?? [];
  const facts = { tenant, subject, serverId, isStepUp, ...(scope !== undefined && { scope }) };
  return {
    kind: 'sign_in',
    reason: `${alias} (${hostOf(url)}) needs you to sign in at ${issuerHost}`,
    data: { server: { id: serverId, alias, host: hostOf(url) }, signIn: { issuerHost, scopes, added } },
    async save({ id, runId, expiresAt }) {
      const value: SignInContinuation = { kind: 'sign_in', runId, ...facts };
      await storage.commit([{ key: continuationKey(id), value, ttlMs: Math.max(1, expiresAt - now()) }]);
    },
  };
}

export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
