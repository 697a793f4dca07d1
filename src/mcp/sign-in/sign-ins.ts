/** Starts and finishes sign-ins, and shows and revokes what they granted. */

import { isSameIssuer } from '../../base/check-url.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpAuthPin, McpServer } from '../../base/schema.ts';
import type { McpGrant, McpSignInCallback, McpSignInRequest, McpSignInStart } from '../../contracts/mcp/sign-ins.ts';
import { owns } from '../../permission/ownership.ts';
import { toBase64 } from '../../base/base64.ts';
import { clientFor, clientToStart, noteClient, signInMs } from './clients.ts';
import { grantChange, type GrantOf, readGrant } from './grants.ts';
import {
  consentKey,
  type ConsentRecord,
  granteeOf,
  grantKey,
  isSameAuth,
  pinDigest,
  signInKey,
  type SignInRecord,
} from './records.ts';
import { authChanged, isClientUnknown, notApproved, otherPerson, unknownSignIn } from './sign-in-failures.ts';
import type { SignInContext } from './sign-in-context.ts';

/** What is signed in to, for what. */
export interface StartSignIn extends GrantOf {
  readonly request: McpSignInRequest;
  /** What a call was refused for, separated by spaces. */
  readonly challenged?: string | undefined;
}

/**
 * Returns the URL that the person opens. The metadata is read again before: a difference from what was approved is drift.
 *
 * @throws PinnaceError `invalid_argument` for another redirect URI, `conflict` when the server's sign-in is not approved as it is now,
 * and as `McpSignIn` rejects.
 */
export async function startSignIn(
  { server, principal, request: { redirectUri, interruptionId }, challenged }: StartSignIn,
  context: SignInContext,
): Promise<McpSignInStart> {
  const { oauth, storage, now } = context;
  if (!oauth.redirectUris.includes(redirectUri)) throw unlistedRedirect();
  const pin = await requireCurrent(server, context);
  const { tenant, subject } = principal;
  const scope = await scopeFor({ server, principal }, { pin, challenged }, context);
  const client = await clientToStart(
    { auth: server.auth!, pin, tenant, redirectUri },
    { scope, interruptionId },
    context,
  );
  const state = toBase64(crypto.getRandomValues(new Uint8Array(32))).replace(/=+$/, '')
    .replaceAll('+', '-').replaceAll('/', '_');
  const { url, verifier } = await oauth.start(pin, { clientId: client.id, redirectUri, scope, state });
  const key = await signInKey(state);
  const expiresAt = now() + signInMs;
  const record: SignInRecord = {
    tenant,
    subject,
    serverId: server.id,
    issuer: pin.issuer,
    resource: pin.resource,
    ...(scope !== undefined && { scope }),
    redirectUri,
    pin: await pinDigest(server),
    expiresAt,
    clientId: client.id,
    ...(interruptionId !== undefined && { interruptionId }),
    sealed: await context.seals(tenant).seal(verifier, [key, subject, server.id, pin.issuer]),
  };
  await storage.commit([{ key, value: record, ttlMs: signInMs }]);
  return { url, expiresAt };
}

/** Reads the metadata again, and compares it with what was approved. */
export async function requireCurrent(
  { url, auth, pinned }: McpServer,
  { oauth, signal }: SignInContext,
): Promise<McpAuthPin> {
  const pin = pinned?.auth;
  if (!auth || !pin || !isSameIssuer(pin.issuer, auth.issuer)) throw notApproved();
  const { resourceMetadata } = pin;
  const now = await oauth.discover({ url, issuer: auth.issuer, resourceMetadata }, { signal });
  const { requested: _, ...approved } = pin;
  if (!isSameAuth(now, approved)) throw authChanged();
  return pin;
}

/** What is requested: the challenge's scopes, else those of the metadata; with what is granted already, within the record's cap. */
async function scopeFor(
  of: GrantOf,
  { pin, challenged }: { readonly pin: McpAuthPin; readonly challenged: string | undefined },
  context: SignInContext,
): Promise<string | undefined> {
  const granted = challenged === undefined ? undefined : (await readGrant(of, context))?.record.scope;
  const wanted = challenged === undefined ? pin.requested ?? pin.scopes : [...wordsOf(granted), ...wordsOf(challenged)];
  const cap = of.server.auth?.scopes;
  const all = [...new Set([...wanted, ...wanted.length > 0 && pin.offlineAccess ? ['offline_access'] : []])];
  const allowed = cap === undefined ? all : all.filter((scope) => cap.includes(scope));
  return allowed.length === 0 ? undefined : allowed.join(' ');
}

function wordsOf(scope: string | undefined): readonly string[] {
  return (scope ?? '').split(/\s+/).filter((word) => word !== '');
}

/** A finished sign-in, and the interruption that asked for it. */
export interface FinishedSignIn {
  readonly serverId: string;
  readonly interruptionId: string | undefined;
}

/**
 * Finishes a sign-in: only the person who started it can, once.
 *
 * @throws PinnaceError `not_found` for an unknown, used or late state, `forbidden` for another person and as `McpSignIn.finish`
 * rejects, `conflict` when something else was approved meanwhile.
 */
export async function finishSignIn(
  { callback: { state, ...answer }, principal, serverOf }: {
    readonly callback: McpSignInCallback;
    readonly principal: Principal;
    readonly serverOf: (id: string) => Promise<McpServer>;
  },
  context: SignInContext,
): Promise<FinishedSignIn> {
  const { oauth, storage, now, signal } = context;
  const key = await signInKey(state);
  const entry = await storage.get(key);
  const record = entry?.value as SignInRecord | undefined; // only this module writes it
  if (!entry || !record || record.expiresAt <= now()) throw unknownSignIn();
  const { tenant, subject, redirectUri, serverId, interruptionId, clientId, scope = '' } = record;
  if (!owns(principal, record)) throw otherPerson();
  if (!(await storage.commit([{ key, ifVersion: entry.version }])).ok) throw unknownSignIn(); // single use
  const server = await serverOf(serverId);
  const pin = server.pinned?.auth;
  if (!server.auth || !pin || record.pin !== await pinDigest(server)) throw authChanged();
  const verifier = await context.seals(tenant).open(record.sealed, [key, subject, serverId, record.issuer]);
  if (typeof verifier !== 'string') throw unknownSignIn();
  const of = { auth: server.auth, pin, tenant, redirectUri, clientId };
  const client = await clientFor(of, context);
  const exchange = { client, answer, verifier, redirectUri, serverUrl: server.url, signal };
  const tokens = await oauth.finish(pin, exchange).catch(async (error: unknown) => {
    if (isClientUnknown(error)) await noteClient(of, 'lost', context);
    throw error;
  });
  await noteClient(of, 'proven', context);
  const grant = await grantChange(tokens, { server, principal, clientId: client.id, redirectUri, scope }, context);
  const consent: ConsentRecord = { issuer: pin.issuer, scope: grant.value.scope, at: now(), pin: record.pin };
  await storage.commit([grant, { key: consentKey(server, principal), value: consent }]);
  return { serverId, interruptionId };
}

/** Shows a grant. */
export async function showGrant(of: GrantOf, context: SignInContext): Promise<McpGrant> {
  const { server } = of;
  const facts = { grantee: server.auth?.grantee ?? 'user', issuer: server.auth?.issuer ?? '' } as const;
  const record = (await readGrant(of, context))?.record;
  if (!record) return { ...facts, state: 'none', scopes: [] };
  const { state, scope, expiresAt } = record;
  return { ...facts, state, scopes: wordsOf(scope), ...(expiresAt !== undefined && { expiresAt }) };
}

/** Revokes a grant at the authorization server, as far as it answers, and erases it and the consent. */
export async function revokeGrant(of: GrantOf, context: SignInContext): Promise<void> {
  const { server, principal } = of;
  const grant = await readGrant(of, context);
  await context.storage.commit([{ key: grantKey(server, principal) }, { key: consentKey(server, principal) }]);
  const token = grant?.refresh ?? grant?.access;
  if (!grant || !token || !server.auth) return;
  const { record: { redirectUri, clientId }, auth: pin } = grant;
  const ofClient = { auth: server.auth, pin, tenant: principal.tenant, redirectUri, clientId };
  const client = await clientFor(ofClient, context);
  await noteClient(ofClient, 'lost', context); // the way out when the authorization server has forgotten it
  await context.oauth.revoke(pin, { client, token, signal: context.signal });
}

/** Whether the caller signs in for the whole tenant. */
export function isForTenant(server: McpServer, principal: Principal): boolean {
  return granteeOf(server, principal) === '*';
}

function unlistedRedirect(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot sign in to the MCP server: "redirectUri" is none of the redirect URIs of this composition',
    { details: { reason: 'redirect_uri_unlisted' } },
  );
}
