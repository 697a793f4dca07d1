/** What a call needs when it goes on after an interruption. */

import type { Key } from '../../base/key.ts';
import type { Principal } from '../../base/principal.ts';
import type { McpServer } from '../../base/schema.ts';
import type { Interaction } from '../../contracts/mcp/interaction.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { WantedSignIn } from './authorization.ts';

/** A sign-in that a call waits for. */
export interface SignInContinuation {
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

/** The key of the continuation of an interruption. */
export function continuationKey(interruptionId: string): Key {
  return ['mcp-continuation', interruptionId];
}

/** Returns the continuation of a sign-in. */
export async function readContinuation(
  storage: Storage,
  interruptionId: string,
): Promise<SignInContinuation | undefined> {
  if (interruptionId.length > 64) return undefined;
  const value = (await storage.get(continuationKey(interruptionId)))?.value as { readonly kind?: unknown } | undefined;
  return value?.kind === 'sign_in' ? value as SignInContinuation : undefined; // safe: this module wrote it
}

/** Returns the interruption of a call that needs a sign-in. */
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

/** The host of a URL, as people see it. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
