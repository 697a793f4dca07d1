/** The access tokens of a connection, and what a person must do where there is none. */

import { PinnaceError, toData } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpServer } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';
import type { McpAuthorization } from '../../contracts/mcp/mcp-connector.ts';
import type { McpChallenge } from '../../contracts/mcp/sign-in.ts';
import type { Emit } from '../../events/events.ts';
import { createTraceId } from '../../events/trace-ids.ts';
import { accessToken, readGrant } from './grants.ts';
import { authChangedReason, scopeRefused, signInRequired } from './sign-in-failures.ts';
import type { SignInContext } from './sign-in-context.ts';
import { requireCurrent } from './sign-ins.ts';

/** Whose tokens, and who must not see them. */
export interface AuthorizationOf {
  readonly server: McpServer;
  readonly principal: Principal;
  /** Redacts each token, before it is used. */
  readonly protect: (token: Secret) => void;
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
export function emitDrift(error: unknown, { id }: McpServer, emit: Emit): void {
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
