/** The client ids of the runtime at authorization servers. */

import { PinnaceError } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import type { McpAuth, McpAuthPin } from '../../base/schema.ts';
import { Secret } from '../../base/secret.ts';
import { requireDestination } from '../../base/secret-origins.ts';
import type { McpOAuthClient } from '../../contracts/mcp/sign-in.ts';
import { clientKey, type ClientRecord } from './records.ts';
import type { SignInContext } from './sign-in-context.ts';

/** The authorization server, and where people come back to. */
export interface ClientFor {
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
