/** The tokens of grants: sealed in storage, and refreshed by one instance at a time. */

import type { Key } from '../../base/key.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpAuthPin, McpServer } from '../../base/schema.ts';
import { Secret } from '../../base/secret.ts';
import { waitAtMost } from '../../base/timer.ts';
import type { McpTokens } from '../../contracts/mcp/sign-in.ts';
import type { Change } from '../../contracts/storage.ts';
import { clientFor, noteClient } from './clients.ts';
import { grantKey, type GrantRecord, pinDigest, type SealedTokens } from './records.ts';
import { isClientUnknown, isRefusedForGood } from './sign-in-failures.ts';
import type { SignInContext } from './sign-in-context.ts';

/** Whose tokens, for which server. */
export interface GrantOf {
  readonly server: McpServer;
  readonly principal: Principal;
}

/** A grant that can be used. */
export interface OpenGrant {
  readonly record: GrantRecord;
  readonly version: string;
  readonly key: Key;
  readonly auth: McpAuthPin;
  readonly access: Secret;
  readonly refresh: Secret | undefined;
}

/** Refreshed this long before the access token expires, or after half its life. */
const earlyMs = 60_000;
/** How long one instance may take for a refresh; a refresh takes at most 10 s. */
const leaseMs = 15_000;
const pollMs = 50;

/**
 * Returns the access token; `undefined` without a grant for what a person has approved. With `stale`, a token that the server refused,
 * another one. Rejects as `McpSignIn.refresh` does when the authorization server does not answer.
 */
export async function accessToken(
  of: GrantOf,
  context: SignInContext,
  stale?: Secret,
): Promise<Secret | undefined> {
  for (;;) {
    context.signal.throwIfAborted();
    const grant = await readGrant(of, context);
    if (!grant || grant.record.state === 'broken') return undefined;
    const { record, access, refresh } = grant;
    const isStale = stale !== undefined && stale.reveal() === access.reveal();
    const due = refresh === undefined ? record.expiresAt : record.refreshAt;
    if (!isStale && (due === undefined || due > context.now())) return access;
    if (refresh === undefined) return undefined;
    if (record.lease && record.lease.until > context.now()) {
      await waitAtMost(pollMs, new Promise(() => {})); // another call, here or on another instance, refreshes it
      continue;
    }
    const leased = await lease(grant, context);
    if (leased) return await renew(leased, of, context);
  }
}

/** Returns the grant when it is for the server, the issuer and the resource as they are approved now. */
export async function readGrant(
  { server, principal }: GrantOf,
  context: SignInContext,
): Promise<OpenGrant | undefined> {
  const auth = server.pinned?.auth;
  const key = grantKey(server, principal);
  const entry = await context.storage.get(key);
  if (!entry || !auth) return undefined;
  const record = entry.value as GrantRecord; // only this module writes it
  if (record.pin !== await pinDigest(server)) return undefined;
  const opened = await context.seals(principal.tenant).open(record.sealed, boundTo(key, record));
  if (opened === undefined) return undefined;
  const { access, refresh } = opened as SealedTokens; // sealed by this module
  const secretOf = (id: string, value: string, url: string): Secret =>
    new Secret({ id, version: '', value, origins: [new URL(url).origin] });
  return {
    record,
    version: entry.version,
    key,
    auth,
    access: secretOf('mcp-access-token', access, server.url),
    refresh: refresh === undefined ? undefined : secretOf('mcp-refresh-token', refresh, auth.tokenEndpoint),
  };
}

/** Returns the change that stores the tokens of a grant. */
export async function grantChange(
  tokens: McpTokens,
  { server, principal, clientId, redirectUri, scope }:
    & GrantOf
    & Pick<GrantRecord, 'clientId' | 'redirectUri' | 'scope'>,
  context: SignInContext,
): Promise<Change & { readonly value: GrantRecord }> {
  const key = grantKey(server, principal);
  const { issuer = '', resource = '' } = server.pinned?.auth ?? {};
  const { accessToken: access, refreshToken: refresh, expiresInMs } = tokens;
  const plain: SealedTokens = { access: access.reveal(), ...(refresh && { refresh: refresh.reveal() }) };
  const record: Omit<GrantRecord, 'sealed'> = {
    issuer,
    resource,
    clientId,
    redirectUri,
    scope: tokens.scope ?? scope,
    pin: await pinDigest(server),
    ...(expiresInMs !== undefined && {
      expiresAt: context.now() + expiresInMs,
      refreshAt: context.now() + expiresInMs - Math.min(earlyMs, expiresInMs / 2),
    }),
    state: 'active',
  };
  const sealed = await context.seals(principal.tenant).seal(plain, boundTo(key, record));
  return { key, value: { ...record, sealed } };
}

/** No row can be moved to another person, server, issuer or resource. */
function boundTo(
  key: Key,
  { issuer, resource, clientId }: Pick<GrantRecord, 'issuer' | 'resource' | 'clientId'>,
): readonly unknown[] {
  return [key, issuer, resource, clientId];
}

async function lease(grant: OpenGrant, { storage, now }: SignInContext): Promise<OpenGrant | undefined> {
  const record = { ...grant.record, lease: { id: crypto.randomUUID(), until: now() + leaseMs } };
  const { key, version: ifVersion } = grant;
  const committed = await storage.commit([{ key, value: record, ifVersion }]);
  return committed.ok ? { ...grant, record, version: committed.version } : undefined;
}

/** Refreshes under the lease, and writes only over its version: a sign-in meanwhile wins. Nothing is ever deleted here. */
async function renew(grant: OpenGrant, of: GrantOf, context: SignInContext): Promise<Secret | undefined> {
  const { server, principal } = of;
  const { record: { lease: _, ...record }, key, version: ifVersion, auth, refresh } = grant;
  const { oauth, storage, signal } = context;
  const { clientId, redirectUri, scope } = record;
  const ofClient = { auth: server.auth!, pin: auth, tenant: principal.tenant, redirectUri, clientId };
  try {
    const client = await clientFor(ofClient, context);
    const tokens = await oauth.refresh(auth, { client, refreshToken: refresh!, scope, serverUrl: server.url, signal });
    const change = await grantChange(tokens, { ...of, clientId, scope, redirectUri }, context);
    const { ok } = await storage.commit([{ ...change, ifVersion }]);
    return ok ? tokens.accessToken : await accessToken(of, context);
  } catch (error) {
    const isInvalid = isRefusedForGood(error);
    if (isClientUnknown(error)) await noteClient(ofClient, 'lost', context);
    await storage.commit([{ key, value: { ...record, ...(isInvalid && { state: 'broken' }) }, ifVersion }]);
    if (isInvalid) return undefined;
    throw error;
  }
}
