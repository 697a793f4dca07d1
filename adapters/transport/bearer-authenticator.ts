/** Tokens that are bound to principals, for clients that cannot sign requests, such as MCP clients. Only their digests are stored. */

import { checkNames, checkOptions, optional, type Wanted, wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Authenticator } from '../../src/contracts/authenticator.ts';
import { actingFor, bearerTokenOf, checkDelegation } from './signed/caller.ts';
import { checkAgents, checkScopes } from './check-scopes.ts';
import { createPrincipal, isPrincipalName, type Scope } from '../../src/base/principal.ts';
import { sha256 } from '../../src/base/hash.ts';

export type { Authenticator } from '../../src/contracts/authenticator.ts';

/** A token and its principal. */
export interface BearerToken {
  /** SHA-256 of the token in hexadecimal digits: {@link digestOfToken}. */
  readonly digest: string;
  readonly tenant: string;
  /** The person, group or program that owns what the caller creates. */
  readonly subject: string;
  /** The subjects that requests may name in `Pinnace-Subject`: whole names, or prefixes (`shop:*`). None when absent. */
  readonly actFor?: readonly string[];
  /** The roles of the caller, which rules and approvers name. */
  readonly roles?: readonly string[];
  readonly agents: '*' | readonly string[];
  readonly scopes: readonly Scope[];
  /** Whether it speaks for the deployment, and so writes the registry's shared records; takes the scope `admin`. */
  readonly deployment?: boolean;
  /** Milliseconds since 1970; absent, the token never expires. */
  readonly expiresAt?: number;
}

/**
 * Creates an authenticator that accepts listed tokens, each as the principal that it is bound to. Serve it over TLS only.
 *
 * @throws PinnaceError `invalid_argument` for a field that is missing, an unknown scope, a malformed digest, a repeated token, and `deployment` without the scope `admin`.
 * @example
 * const token = crypto.randomUUID(); // give it to the client, keep the digest
 * const digest = await digestOfToken(token);
 * bearerAuthenticator({ tokens: [{ digest, tenant: 't1', subject: 'editor', agents: ['helper'], scopes: ['run:create'] }] });
 */
export function bearerAuthenticator(
  options: { readonly tokens: readonly BearerToken[]; readonly now?: () => number },
): Authenticator {
  checkOptions('authenticate by tokens', options, {
    tokens: ['array', 'an array of { digest, tenant, subject, agents, scopes }'],
  });
  checkNames('authenticate by tokens', options, { tokens: true, now: true });
  const { tokens, now = Date.now } = options;
  tokens.forEach(checkToken);
  const byDigest = new Map(tokens.map((token) => [token.digest, token]));
  if (byDigest.size < tokens.length || !tokens.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest))) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot authenticate by tokens: each must have a digest of its own, SHA-256 in lower-case hexadecimal digits',
    );
  }
  if (tokens.some(({ deployment, scopes }) => deployment === true && !scopes.includes('admin'))) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot authenticate by tokens: one with "deployment" lacks the scope "admin", which it needs',
    );
  }
  return {
    async authenticate(request) {
      const given = bearerTokenOf(request, 512);
      if (given === undefined) {
        throw new PinnaceError('authentication_required', 'Send a token as "Authorization: Bearer …"');
      }
      const token = byDigest.get(await sha256(given)); // comparing digests leaks no timing
      if (!token) throw new PinnaceError('token_invalid', 'The token is not known here');
      if (token.expiresAt !== undefined && token.expiresAt <= now()) {
        throw new PinnaceError('token_expired', 'The token has expired');
      }
      const { tenant, agents, scopes, roles, deployment = false } = token;
      const facts = { via: 'http', tenant, ...actingFor(request, token), agents, scopes } as const;
      return createPrincipal({ ...facts, ...(roles && { roles }), ...(deployment && { deployment }) });
    },
  };
}

const tokenFields: Readonly<Record<keyof BearerToken, Wanted>> = /* @__PURE__ */ optional(
  'digest',
  'tenant',
  'subject',
  'actFor',
  'roles',
  'agents',
  'scopes',
  'deployment',
  'expiresAt',
);

function checkToken(token: BearerToken, at: number): void {
  const action = `authenticate by token ${at}`;
  checkOptions(action, token, {
    digest: ['text', 'the result of "await digestOfToken(token)", not the token itself'],
    tenant: ['text', 'the id of the tenant'],
    subject: ['text', 'the id of the person or program'],
    scopes: ['array', 'an array, such as ["run:create"]'],
  });
  checkNames(action, token, tokenFields);
  for (const field of ['tenant', 'subject'] as const) {
    if (isPrincipalName(token[field])) continue;
    throw wrongArgument(action, field, `"${field}" must be 1 to 256 characters, none of them a control`);
  }
  checkScopes(action, token.scopes);
  checkDelegation(action, token);
  checkAgents(action, token.agents);
}

/**
 * The digest under which a token is listed.
 *
 * @throws PinnaceError `invalid_argument` for what no request can carry as a token.
 */
export async function digestOfToken(token: string): Promise<string> {
  if (typeof token === 'string' && /^[\x21-\x7e]{1,512}$/.test(token)) return await sha256(token);
  throw wrongArgument(
    'make the digest of the token',
    'token',
    'it must be a text of 1 to 512 visible ASCII characters without spaces, and without "Bearer"',
  );
}
