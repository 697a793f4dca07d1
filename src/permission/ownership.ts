/**
 * Whose a record is: the only place that compares persons. What must always hold:
 *
 * - A record belongs to a tenant and a subject: a person, or a group whose members speak one after another. A session owns nothing.
 * - Another subject of the tenant reaches it with the scope `admin` alone, and is not told that it exists without.
 * - Only decisions are delegated, and by name. A delegate reaches the question, never the run that asks.
 */

import { PinnaceError } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';

/** The facts of a record that say whose it is. */
export interface OwnedRecord {
  readonly tenant: string;
  /** Absent in records of earlier versions. */
  readonly subject?: string | undefined;
  /** The agent that the record is about, which the caller must be allowed to run. */
  readonly agentId?: string | undefined;
}

/**
 * How a principal reaches a record: as its owner, or as an administrator of its tenant. Absent, the record does not exist for it.
 * A record without a subject is for administrators only.
 */
export function reach(principal: Principal, { tenant, subject, agentId }: OwnedRecord): 'owner' | 'admin' | undefined {
  if (principal.tenant !== tenant || !mayRun(principal, agentId)) return undefined;
  if (subject !== undefined && principal.subject === subject) return 'owner';
  return principal.scopes.includes('admin') ? 'admin' : undefined;
}

/** Whether the record is the caller's own, whatever its scopes. */
export function owns(principal: Principal, record: OwnedRecord): boolean {
  return reach(principal, record) === 'owner';
}

/** Whether two records have the same owner. */
export function haveOneOwner(one: OwnedRecord, other: OwnedRecord): boolean {
  return one.subject !== undefined && one.tenant === other.tenant && one.subject === other.subject;
}

/**
 * Returns whose records a caller means: its own, or those of another subject of its tenant that it names.
 *
 * @throws PinnaceError `forbidden` for another subject without the scope `admin`, whether or not it has any.
 */
export function namedOwner(principal: Principal, named: string | undefined): Pick<Principal, 'tenant' | 'subject'> {
  const owner = { tenant: principal.tenant, subject: named ?? principal.subject };
  if (!owns(principal, owner)) requireScope(principal, 'admin');
  return owner;
}

/** The fields of a question that say who may decide on it, as they were when it was asked. */
export interface DelegatedRecord extends OwnedRecord {
  /** Who has asked for the owner, where that is another: a member of the group. */
  readonly actor?: string | undefined;
  /** Who decides, in place of the owner: `subject:bo`, `role:finance`, `actor:bo`. */
  readonly approvers?: readonly string[] | undefined;
  /** The person who has asked does not decide, also not as an administrator. */
  readonly fourEyes?: true | undefined;
}

/**
 * Checks that a principal may decide on a question. Returns `false` where the question does not exist for it.
 *
 * @throws PinnaceError `forbidden`: `own_request` for the person who has asked where another one must decide, `not_an_approver` for
 * an owner who is not among the approvers.
 */
export function requireDecider(principal: Principal, record: DelegatedRecord): boolean {
  const how = reach(principal, record);
  const { tenant, agentId, approvers, fourEyes } = record;
  const isNamed = approvers !== undefined && principal.tenant === tenant && mayRun(principal, agentId) &&
    approvers.some((name) => isCalled(principal, name));
  if (!how && !isNamed) return false;
  if (fourEyes && isAsker(principal, record)) throw refused('another person must decide on it', 'own_request');
  if (approvers && !isNamed && how !== 'admin') throw refused('others are named to decide on it', 'not_an_approver');
  return true;
}

function mayRun({ agents }: Principal, agentId: string | undefined): boolean {
  return agents === '*' || agentId === undefined || agentId === '' || agents.includes(agentId);
}

/** How approvers are named. */
export const approverName = /^(subject|role|actor):.{1,256}$/su;

function isCalled({ subject, actor = subject, roles = [] }: Principal, name: string): boolean {
  const called = name.slice(name.indexOf(':') + 1);
  if (name.startsWith('subject:')) return subject === called;
  return name.startsWith('actor:') ? actor === called : name.startsWith('role:') && roles.includes(called);
}

/** Within one subject the actors are compared: members of a group. A decider of that subject without an actor may be the one who asked. */
function isAsker(principal: Principal, { subject, actor }: DelegatedRecord): boolean {
  if (principal.subject === subject) return actor === undefined || (principal.actor ?? actor) === actor;
  return principal.subject === actor || (subject !== undefined && principal.actor === subject);
}

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('forbidden', `Cannot decide on the approval: ${why}`, { details: { reason } });
}

/** The error for a tenant that would change what the deployment shares. `attempt` names the action: `update agent "helper"`. */
export function sharedRecord(attempt: string): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Cannot ${attempt}: the deployment shares it with all tenants, so only a principal of the deployment may`,
    { details: { reason: 'shared_record' } },
  );
}
