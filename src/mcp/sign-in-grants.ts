/** The tokens of grants: sealed in storage, and refreshed by one instance at a time. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { McpAuth, McpAuthPin, McpServer } from '../base/schema.ts';
import { requireDestination } from '../base/origins.ts';
import { Secret } from '../base/secret.ts';
import { waitAtMost } from '../base/until-aborted.ts';
import type { McpAuthorization } from '../contracts/mcp/mcp-connector.ts';
import type { McpChallenge, McpOAuthClient, McpTokens } from '../contracts/mcp/sign-in.ts';
import type { Change } from '../contracts/storage.ts';
import type { Report } from '../events/report.ts';
import type { OfferedApps } from './candidate.ts';
import type { OfferedLists } from './pins.ts';
import { isClientUnknown, isRefusedForGood, isSignInRequired, signInRequired } from './sign-in-failures.ts';
import {
  clientKey,
  type ClientRecord,
  grantKey,
  type GrantRecord,
  isSameAuth,
  pinDigest,
  type SealedTokens,
  type SignInContext,
} from './sign-in-records.ts';

export interface GrantOf {
  readonly server: McpServer;
  readonly principal: Principal;
}

interface OpenGrant {
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

/** The server, and the way to read its offer. */
export interface LookAtAuth {
  readonly server: McpServer;
  readonly principal: Principal;
  readonly readOffer: (authorization: McpAuthorization) => Promise<Offered>;
  readonly report: Report;
  readonly context: SignInContext;
}

export interface Offered {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly tools: readonly unknown[];
  readonly lists: OfferedLists;
  readonly apps: OfferedApps;
}

export interface LookedAtAuth {
  readonly auth: McpAuthPin;
  /** `undefined` where the server wants a sign-in, and there is none. */
  readonly offer: Offered | undefined;
}

/** Looks. A token is sent only where the metadata is still what was approved. */
export async function lookAtAuth(
  { server, principal, readOffer, report, context }: LookAtAuth,
): Promise<LookedAtAuth> {
  const { url, auth, pinned } = server;
  const pin = pinned?.auth;
  const issuer = auth?.issuer ?? '';
  const of = { server, principal };
  const discover = (resourceMetadata: string | undefined): Promise<McpAuthPin> =>
    context.oauth.discover({ url, issuer, resourceMetadata }, context);
  const found = pin && withRequested(await discover(pin.resourceMetadata), pin.requested);
  const mayUse = pin !== undefined && found !== undefined && isSameAuth(found, pin);
  const before = mayUse ? pin : found;
  let challenge: McpChallenge | undefined;
  const authorization: McpAuthorization = {
    token: async () => mayUse ? await accessToken(of, context) : undefined,
    async refused(given, { token, again }) {
      challenge = given;
      const next = token && !again && mayUse ? await accessToken(of, context, token) : undefined;
      if (next) return next;
      throw signInRequired(server.alias);
    },
  };
  const offer = await readOffer(authorization).catch((error: unknown) => {
    if (!challenge) throw error;
    if (!isSignInRequired(error)) report(error, { kind: 'mcp', id: server.id }); // the result only says that a sign-in is missing
    return undefined;
  });
  if (offer && before) return { auth: before, offer };
  const asked = challenge?.scope?.split(/\s+/).filter((scope) => scope !== '').slice(0, 50);
  const now = await discover(challenge?.resourceMetadata ?? pin?.resourceMetadata);
  return { auth: withRequested(now, asked ?? pin?.requested), offer };
}

/** What the server asked for at first comes before what its metadata lists. */
function withRequested(auth: McpAuthPin, requested: readonly string[] | undefined): McpAuthPin {
  return requested === undefined ? auth : { ...auth, requested: [...requested] };
}

interface ClientFor {
  readonly auth: McpAuth;
  readonly pin: McpAuthPin;
  readonly tenant: string;
  readonly redirectUri: string;
  /** The one that a sign-in or a grant was made with; the current one when absent. */
  readonly clientId?: string | undefined;
}

/** Returns the client that was registered by hand, else the metadata document, else the registered one. */
export async function clientFor(of: ClientFor, context: SignInContext): Promise<McpOAuthClient> {
  const client = await unregistered(of, context);
  if (client) return client;
  const { pin, tenant, redirectUri, clientId } = of;
  const key = await clientKey(tenant, pin.issuer, redirectUri);
  const current = await openClient(key, of, context);
  if (current && (clientId === undefined || clientId === current.record.clientId)) return current.client;
  const former = clientId === undefined ? undefined : await openClient([...key, clientId], of, context);
  if (former) return former.client;
  throw noClient('its client is no longer known; sign in again', { oauthError: 'invalid_client' });
}

/** Returns the client for a new sign-in. A client that is unknown, or with which no sign-in ended, is registered again. */
export async function clientToStart(
  of: ClientFor,
  { scope, interruptionId }: { readonly scope: string | undefined; readonly interruptionId: string | undefined },
  context: SignInContext,
): Promise<McpOAuthClient> {
  const client = await unregistered(of, context);
  if (client) return client;
  const { pin, tenant, redirectUri } = of;
  const { oauth, storage, now, signal } = context;
  const key = await clientKey(tenant, pin.issuer, redirectUri);
  const known = await openClient(key, of, context);
  const opened = known?.record.opened;
  const isLost = opened !== undefined &&
    (opened.at === 0 || now() - opened.at > signInMs ||
      (interruptionId !== undefined && opened.interruptionId === interruptionId));
  const started = { at: now(), ...(interruptionId !== undefined && { interruptionId }) };
  if (known && !isLost) {
    if (!opened) await storage.commit([{ key, value: { ...known.record, opened: started } }]);
    return known.client;
  }
  if (pin.registrationEndpoint === undefined) {
    throw noClient('register a client at its authorization server, and write it into "auth.client"');
  }
  const made = await oauth.register(pin, { redirectUri, scope }, { signal });
  const seal = async (one: McpOAuthClient, at: Key) =>
    one.secret && { sealed: await context.seals(tenant).seal(one.secret.reveal(), [at, pin.issuer]) };
  const record: ClientRecord = {
    clientId: made.id,
    ...(made.authMethod !== undefined && { authMethod: made.authMethod }),
    ...(made.expiresAt !== undefined && { expiresAt: made.expiresAt }),
    ...await seal(made, key),
    opened: started,
  };
  const formerKey = known && [...key, known.record.clientId]; // others may still have grants of it
  const former = formerKey && { key: formerKey, value: { ...known.record, ...await seal(known.client, formerKey) } };
  await storage.commit([{ key, value: record }, ...(former ? [former] : [])]);
  return made;
}

/** Notes what became of a registered client: `proven` by a finished sign-in, or `lost`, so that the next sign-in registers another. */
export async function noteClient(
  { pin, tenant, redirectUri, clientId }: ClientFor,
  state: 'proven' | 'lost',
  { storage }: SignInContext,
): Promise<void> {
  const key = await clientKey(tenant, pin.issuer, redirectUri);
  const entry = await storage.get(key);
  const record = entry?.value as ClientRecord | undefined; // only this module writes it
  if (!entry || !record || (clientId !== undefined && record.clientId !== clientId)) return;
  const { opened, ...rest } = record;
  if (state === 'proven' && opened === undefined) return;
  const value = state === 'proven' ? rest : { ...rest, opened: { at: 0 } };
  await storage.commit([{ key, value, ifVersion: entry.version }]);
}

/** A person has this long to sign in. */
export const signInMs = 600_000;

/** The client of the record, or of the deployment: both need no registration. */
async function unregistered(
  { auth, pin, tenant }: ClientFor,
  context: SignInContext,
): Promise<McpOAuthClient | undefined> {
  const { clientMetadataUrl } = context.oauth;
  if (auth.client) return await registeredByHand(auth.client, { pin, tenant }, context);
  return pin.clientIdMetadataDocument && clientMetadataUrl !== undefined
    ? { id: clientMetadataUrl, authMethod: 'none' }
    : undefined;
}

/** A registered client that has not expired, and whose secret can be opened. */
async function openClient(
  key: Key,
  { pin, tenant }: ClientFor,
  { storage, seals, now }: SignInContext,
): Promise<{ readonly record: ClientRecord; readonly client: McpOAuthClient } | undefined> {
  const record = (await storage.get(key))?.value as ClientRecord | undefined; // only this module writes it
  if (!record || (record.expiresAt !== undefined && record.expiresAt <= now())) return undefined;
  const secret = record.sealed && await seals(tenant).open(record.sealed, [key, pin.issuer]);
  if (record.sealed && typeof secret !== 'string') return undefined;
  return { record, client: toClient(record, secret as string | undefined, pin) }; // a text, checked above
}

async function registeredByHand(
  { id, secret: ref }: NonNullable<McpAuth['client']>,
  { pin, tenant }: Pick<ClientFor, 'pin' | 'tenant'>,
  { secrets, signal }: SignInContext,
): Promise<McpOAuthClient> {
  if (!ref) return { id };
  const { origin } = new URL(pin.tokenEndpoint);
  const found = await secrets?.resolve(ref, { scope: { tenant, agentId: '', origin }, signal });
  if (!found) throw noClient('the composition has no secrets');
  return { id, secret: requireDestination(found, origin) };
}

function toClient(
  { clientId: id, authMethod }: ClientRecord,
  value: string | undefined,
  pin: McpAuthPin,
): McpOAuthClient {
  const origins = [new URL(pin.tokenEndpoint).origin];
  return {
    id,
    ...(value !== undefined && { secret: new Secret({ id: 'mcp-client', version: '', value, origins }) }),
    ...(authMethod !== undefined && { authMethod }),
  };
}

function noClient(why: string, facts: { readonly oauthError?: string } = {}): PinnaceError {
  return new PinnaceError('unavailable', `Cannot sign in to the MCP server: ${why}`, {
    retryable: false,
    details: { reason: 'mcp_no_client', ...facts },
  });
}
