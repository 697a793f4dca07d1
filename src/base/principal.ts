/** The verified caller. A principal is made here and nowhere else, so that no literal, spread or clone passes for one. */

import { PinnaceError } from './errors.ts';

const allScopes = [
  'run:create',
  'run:read',
  'run:cancel',
  'tool:approve',
  'registry:read',
  'registry:write',
  'grounding:read',
  'admin',
] as const;

/** What a principal may do over HTTP. */
export type Scope = typeof allScopes[number];

/** Every scope there is. */
export const scopes: readonly Scope[] = allScopes;

/** The certificate that a principal came with. Times are milliseconds since 1970. */
export interface Session {
  /** The `iss` of the certificate: idempotency keys are scoped by it. */
  readonly issuer: string;
  /** The `sub` of the certificate where it is not the subject: the id of the session, or the back end that signs for many. */
  readonly sub?: string;
  /** The `jti` of the certificate. */
  readonly certificateId: string;
  /** The thumbprint (RFC 7638) of the key that signs the session's requests. */
  readonly keyThumbprint: string;
  /** The `kid` of the root key that signed the certificate. */
  readonly rootKeyId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** The caller, its tenant and its scopes. */
export interface Principal {
  readonly via: 'in-process' | 'http';
  readonly tenant: string;
  /** Who owns what the caller creates: a person or a group (`group:42`) within the tenant. Never a session. */
  readonly subject: string;
  /** Who speaks for the subject, where that is another: a member of the group, or the back end that signs. */
  readonly actor?: string;
  /** Roles within the tenant, which rules and approvers name (`role:finance`). */
  readonly roles?: readonly string[];
  /** The agents that may be run. */
  readonly agents: '*' | readonly string[];
  readonly scopes: readonly Scope[];
  /** Speaks for the deployment as well: writes the registry's shared records. Absent, the principal is its tenant's alone. */
  readonly deployment?: boolean;
  /** Present where the principal came with a certificate. */
  readonly session?: Session;
}

/** The owner of a record, as it is stored where work goes on without a request. */
export type Owner = Pick<Principal, 'tenant' | 'subject' | 'actor' | 'agents' | 'scopes' | 'roles' | 'via'>;

/** What is stored of a principal for whom work goes on without a request. */
export function ownerAs({ actor, roles, ...principal }: Principal): Owner {
  const { tenant, subject, agents, via } = principal;
  const named = { ...(actor !== undefined && { actor }), ...(roles && { roles }) };
  return { tenant, subject, ...named, agents, scopes: principal.scopes, via };
}

const verified = new WeakSet<Principal>();

/** What a missing value becomes in a text: `String(claims.org)` makes one tenant of all callers without `org`. */
const namesOfNothing: ReadonlySet<string> = new Set(['undefined', 'null', 'NaN', '[object Object]']);

/** Whether a value can name a tenant, a person, a group or a role: 1 to 256 characters, no control characters, no missing value. */
export function isPrincipalName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > 256 || namesOfNothing.has(value)) return false;
  return !/\p{Cc}/u.test(value) && value.isWellFormed();
}

/**
 * Creates a principal from facts that an authenticator has verified. Never call it with anything that a request merely claims.
 *
 * @throws PinnaceError `unauthenticated` (reason `invalid_principal`, with the `field`) where tenant, subject, actor or a role is empty,
 * longer than 256 characters, has control characters, or is the text of a missing value, such as "undefined", and where `agents` or
 * `scopes` is no list.
 */
export function createPrincipal(facts: Principal): Principal {
  const { tenant, subject, actor, roles = [], agents, scopes: granted } = facts;
  requireName('tenant', tenant);
  requireName('subject', subject);
  if (actor !== undefined) requireName('actor', actor);
  for (const role of roles) requireName('roles', role);
  // A text has `includes` too: the scope "sysadmin" of a token would count as "admin".
  if (agents !== '*' && !Array.isArray(agents)) throw wrongFact('agents', 'must be "*" or an array of agent ids');
  if (!Array.isArray(granted)) throw wrongFact('scopes', 'must be an array of scopes');
  const principal = Object.freeze({ ...facts, ...(facts.roles && { roles: Object.freeze([...facts.roles]) }) });
  verified.add(principal);
  return principal;
}

function requireName(field: string, value: unknown): void {
  if (isPrincipalName(value)) return;
  throw wrongFact(field, 'must be 1 to 256 characters without control characters, and not "undefined"');
}

/** The refusal of a caller of whom an authenticator says something that cannot be. */
export function wrongFact(field: string, why: string): PinnaceError {
  return new PinnaceError('unauthenticated', `Cannot accept the caller: its "${field}" ${why}`, {
    details: { reason: 'invalid_principal', field },
  });
}

/** The principal of the code that composes the runtime: the tenant `local`, every scope, and the deployment. */
export function localPrincipal(): Principal {
  return createPrincipal({
    via: 'in-process',
    tenant: 'local',
    subject: 'local',
    agents: '*',
    scopes,
    deployment: true,
  });
}

/**
 * Checks that the value was made by {@link createPrincipal} and may do this.
 *
 * @throws PinnaceError `unauthenticated` for anything else than a principal, `forbidden` when scope or agent is not its own.
 */
export function requireScope(principal: Principal, scope: Scope, agentId?: string): void {
  if (!verified.has(principal)) {
    throw new PinnaceError(
      'unauthenticated',
      'Cannot accept the caller: pass the principal of an authenticator, or localPrincipal()',
    );
  }
  if (!principal.scopes.includes(scope)) {
    throw new PinnaceError('forbidden', `Cannot go on: the caller lacks the scope "${scope}"`, {
      details: { reason: 'scope_missing' },
    });
  }
  if (agentId !== undefined && principal.agents !== '*' && !principal.agents.includes(agentId)) {
    throw new PinnaceError('forbidden', 'Cannot run this agent: it is not among those that the caller may run', {
      details: { reason: 'agent_not_allowed' },
    });
  }
}

/**
 * Whether the principal may change the record, or have one run differ from it: with the scope `registry:write` a tenant its own, the
 * deployment any.
 */
export function mayChange(
  { scopes: granted, deployment, tenant }: Principal,
  record: { readonly tenant?: string | undefined },
): boolean {
  return granted.includes('registry:write') && (deployment === true || record.tenant === tenant);
}

/** Who has said a value, such as an argument of a call, and who may read it. */
export interface ArgumentFacts {
  /** The sources of others, such as `mcp:mail`; `*`: anybody. Empty: the user or the operator. */
  readonly from: readonly string[];
  readonly readers: 'public' | 'tenant' | 'principal';
  /** A stranger has only chosen it, among a few values of the operator. */
  readonly narrow?: true;
}
