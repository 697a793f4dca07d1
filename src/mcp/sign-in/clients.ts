/** The client ids of the runtime at authorization servers. */

import { PinnaceError } from '../../base/errors.ts';
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
}

/** Returns the client that was registered by hand, else the metadata document, else the registered one; registers with `scope`. */
export async function clientFor(
  { auth, pin, tenant, redirectUri }: ClientFor,
  context: SignInContext,
  registration?: { readonly scope: string | undefined },
): Promise<McpOAuthClient> {
  const { oauth, storage, now, signal } = context;
  if (auth.client) return await registeredByHand(auth.client, { pin, tenant }, context);
  if (pin.clientIdMetadataDocument && oauth.clientMetadataUrl !== undefined) {
    return { id: oauth.clientMetadataUrl, authMethod: 'none' };
  }
  const key = await clientKey(tenant, pin.issuer, redirectUri);
  const seals = context.seals(tenant);
  const known = (await storage.get(key))?.value as ClientRecord | undefined; // only this module writes it
  if (known && !(known.expiresAt !== undefined && known.expiresAt <= now())) {
    const secret = known.sealed && await seals.open(known.sealed, [key, pin.issuer]);
    if (!known.sealed || typeof secret === 'string') return toClient(known, secret as string | undefined, pin);
  }
  if (!registration) throw noClient('its client is no longer known; sign in again');
  if (pin.registrationEndpoint === undefined) {
    throw noClient('register a client at its authorization server, and write it into "auth.client"');
  }
  const made = await oauth.register(pin, { redirectUri, ...registration }, { signal });
  const record: ClientRecord = {
    clientId: made.id,
    ...(made.authMethod !== undefined && { authMethod: made.authMethod }),
    ...(made.expiresAt !== undefined && { expiresAt: made.expiresAt }),
    ...(made.secret && { sealed: await seals.seal(made.secret.reveal(), [key, pin.issuer]) }),
  };
  await storage.commit([{ key, value: record }]);
  return made;
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

function noClient(why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot sign in to the MCP server: ${why}`, {
    retryable: false,
    details: { reason: 'mcp_no_client' },
  });
}
