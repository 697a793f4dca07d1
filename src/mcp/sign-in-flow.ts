/** The sign-ins of a runtime's callers, by the id of the server. */

import { isSameIssuer } from '../base/check-url.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { McpAuthPin, McpServer } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { McpAuthorization } from '../contracts/mcp/mcp-connector.ts';
import type {
  McpChallenge,
  McpGrant,
  McpSignInCallback,
  McpSignInRequest,
  McpSignIns,
  McpSignInStart,
} from '../contracts/mcp/sign-in.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Emit } from '../events/events.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { owns } from '../permission/ownership.ts';
import { toBase64 } from '../base/base64.ts';
import { catalogOf } from './pins.ts';
import {
  authChanged,
  authChangedReason,
  isClientUnknown,
  notApproved,
  otherPerson,
  scopeRefused,
  signInRequired,
  unknownSignIn,
} from './sign-in-failures.ts';
import {
  accessToken,
  clientFor,
  clientToStart,
  grantChange,
  type GrantOf,
  noteClient,
  readGrant,
  signInMs,
} from './sign-in-grants.ts';
import {
  consentKey,
  type ConsentRecord,
  granteeOf,
  grantKey,
  isSameAuth,
  pinDigest,
  readContinuation,
  type SignInContext,
  signInKey,
  type SignInRecord,
  type WantedSignIn,
} from './sign-in-records.ts';

interface CreateSignInsOptions {
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly emit: Emit;
  readonly contextOf: (signal: AbortSignal) => SignInContext;
}

/** Creates them. A server without sign-in does not exist here. */
export function createSignIns({ catalog, storage, emit, contextOf }: CreateSignInsOptions): McpSignIns {
  const find = async (id: string, { tenant }: Principal, signal: AbortSignal): Promise<McpServer> => {
    const own = await catalogOf(catalog, tenant)?.mcpServer?.(id, signal);
    const server = own ?? await catalog.mcpServer?.(id, signal);
    if (!server?.auth) throw unknownServer();
    return server;
  };
  const findChangeable = async (id: string, principal: Principal, signal: AbortSignal): Promise<McpServer> => {
    const server = await find(id, principal, signal);
    if (granteeOf(server, principal) === '*') requireScope(principal, 'registry:write');
    return server;
  };
  return {
    async start(serverId, request, { principal, signal }) {
      const server = await findChangeable(serverId, principal, signal);
      const waiting = request.interruptionId === undefined
        ? undefined
        : await readContinuation(storage, request.interruptionId);
      const isOwn = waiting && owns(principal, waiting) && waiting.serverId === serverId;
      if (request.interruptionId !== undefined && !isOwn) throw unknownInterruption();
      const start = { server, principal, request, challenged: waiting?.scope };
      return await startSignIn(start, contextOf(signal)).catch((error: unknown) => {
        emitDrift(error, server, emit);
        throw error;
      });
    },
    async finish(callback, { principal, signal }) {
      const serverOf = (id: string): Promise<McpServer> => findChangeable(id, principal, signal);
      const { serverId, interruptionId } = await finishSignIn({ callback, principal, serverOf }, contextOf(signal));
      const waiting = interruptionId === undefined ? undefined : await readContinuation(storage, interruptionId);
      if (interruptionId === undefined || !waiting) return { serverId };
      return { serverId, interruption: { id: interruptionId, runId: waiting.runId } };
    },
    async grant(serverId, { principal, signal }) {
      return await showGrant({ server: await find(serverId, principal, signal), principal }, contextOf(signal));
    },
    async revoke(serverId, { principal, signal }) {
      await revokeGrant({ server: await findChangeable(serverId, principal, signal), principal }, contextOf(signal));
    },
  };
}

function unknownServer(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot sign in to the MCP server: no server with "auth" has this id', {
    details: { reason: 'mcp_server_not_found' },
  });
}

function unknownInterruption(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot sign in for the interruption: no run of the caller waits with this id', {
    details: { reason: 'interruption_not_found' },
  });
}

interface StartSignIn extends GrantOf {
  readonly request: McpSignInRequest;
  /** What a call was refused for, separated by spaces. */
  readonly challenged?: string | undefined;
}

/**
 * Returns the URL that the person opens. The metadata is read again before: a difference from what was approved is drift.
 * @throws PinnaceError `invalid_argument` for another redirect URI, `conflict` when the server's sign-in is not approved as it is now,
 * and as `McpSignIn` rejects.
 */
async function startSignIn(
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
async function requireCurrent(
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

interface FinishedSignIn {
  readonly serverId: string;
  readonly interruptionId: string | undefined;
}

/**
 * Finishes a sign-in: only the person who started it can, once.
 * @throws PinnaceError `not_found` for an unknown, used or late state, `forbidden` for another person and as `McpSignIn.finish`
 * rejects, `conflict` when something else was approved meanwhile.
 */
async function finishSignIn(
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

async function showGrant(of: GrantOf, context: SignInContext): Promise<McpGrant> {
  const { server } = of;
  const facts = { grantee: server.auth?.grantee ?? 'user', issuer: server.auth?.issuer ?? '' } as const;
  const record = (await readGrant(of, context))?.record;
  if (!record) return { ...facts, state: 'none', scopes: [] };
  const { state, scope, expiresAt } = record;
  return { ...facts, state, scopes: wordsOf(scope), ...(expiresAt !== undefined && { expiresAt }) };
}

/** Revokes a grant at the authorization server, as far as it answers, and erases it and the consent. */
async function revokeGrant(of: GrantOf, context: SignInContext): Promise<void> {
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

function unlistedRedirect(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot sign in to the MCP server: "redirectUri" is none of the redirect URIs of this composition',
    { details: { reason: 'redirect_uri_unlisted' } },
  );
}

/** Whose tokens, and who must not see them. */
interface AuthorizationOf {
  readonly server: McpServer;
  readonly principal: Principal;
  readonly protect: (token: Secret) => void;
}

const wanted = new WeakMap<PinnaceError, WantedSignIn>();

/** Returns what the person must sign in for, when the error says that a sign-in is needed. */
export function wantedSignIn(error: unknown): WantedSignIn | undefined {
  return error instanceof PinnaceError ? wanted.get(error) : undefined;
}

/** Creates the tokens of one connection. Rejects with `approval_required` (`mcp_sign_in_required`) where a person must sign in. */
export function authorizationFor(
  { server, principal, protect }: AuthorizationOf,
  context: SignInContext,
  emit: Emit,
): McpAuthorization {
  const of = { server, principal };
  const shown = (token: Secret | undefined): Secret | undefined => {
    if (token) protect(token);
    return token;
  };
  const required = async ({ status, scope }: McpChallenge): Promise<PinnaceError> => {
    const error = signInRequired(server.alias);
    const granted = new Set(((await readGrant(of, context))?.record.scope ?? '').split(' '));
    const safe = scopesOf(scope);
    const added = safe.filter((word) => !granted.has(word));
    wanted.set(error, {
      serverId: server.id,
      ...(safe.length > 0 && { scope: safe.join(' ') }),
      added,
      isStepUp: status === 403,
    });
    return error;
  };
  return {
    token: async () => shown(await accessToken(of, context)),
    async refused(challenge, { token, again }) {
      if (challenge.status === 403) {
        const error = await required(challenge); // a refresh cannot widen what was granted
        if (challenge.error !== 'insufficient_scope' || wantedSignIn(error)?.added.length === 0) throw scopeRefused();
        throw error;
      }
      if (token === undefined || again) throw await required(challenge);
      await requireCurrent(server, context).catch((error: unknown) => {
        emitDrift(error, server, emit);
        throw error;
      });
      const next = shown(await accessToken(of, context, token));
      if (next === undefined) throw await required(challenge);
      return next;
    },
  };
}

/** Text of the server: only what is a scope by its form (RFC 6749, 3.3) goes on. */
function scopesOf(scope = ''): readonly string[] {
  return scope.split(/\s+/).filter((word) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(word)).slice(0, 50);
}

/** Emits that a server no longer signs people in where it was approved. No token was sent since. */
function emitDrift(error: unknown, { id }: McpServer, emit: Emit): void {
  const data = toData(error);
  const reason = data.details?.['reason'];
  if (reason !== authChangedReason && reason !== 'mcp_issuer_unlisted') return;
  const target = { type: 'mcp-server', id } as const;
  const facts = {
    traceId: createTraceId(),
    actor: { type: 'system', id: 'mcp' },
    latency: 0,
    payloadSummary: '',
  } as const;
  emit({ ...facts, action: 'mcp.auth_changed', target, status: 'denied', error: data });
}
