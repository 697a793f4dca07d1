/** Looks at a server to which people sign in: where they do, and, with a sign-in, what it offers. */

import type { Principal } from '../../base/principal.ts';
import type { McpAuthPin, McpServer } from '../../base/schema.ts';
import type { McpAuthorization } from '../../contracts/mcp/mcp-connector.ts';
import type { McpChallenge } from '../../contracts/mcp/sign-in.ts';
import type { OfferedApps } from '../apps/candidate-apps.ts';
import type { OfferedLists } from '../content/kinds.ts';
import type { Report } from '../../events/report.ts';
import { accessToken } from './grants.ts';
import { isSignInRequired, signInRequired } from './sign-in-failures.ts';
import { isSameAuth } from './records.ts';
import type { SignInContext } from './sign-in-context.ts';

/** The server, and the way to read its offer. */
export interface LookAtAuth {
  readonly server: McpServer;
  readonly principal: Principal;
  /** Connects and lists. */
  readonly readOffer: (authorization: McpAuthorization) => Promise<Offered>;
  readonly report: Report;
  readonly context: SignInContext;
}

/** What a server offers. */
export interface Offered {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly tools: readonly unknown[];
  readonly lists: OfferedLists;
  readonly apps: OfferedApps;
}

/** What was seen. */
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
