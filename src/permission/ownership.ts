/** Whose a record is. The only place that compares persons. */

import type { Principal } from '../base/principal.ts';

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
  if (principal.tenant !== tenant) return undefined;
  if (agentId !== undefined && principal.agents !== '*' && !principal.agents.includes(agentId)) return undefined;
  if (subject !== undefined && principal.subject === subject) return 'owner';
  return principal.scopes.includes('admin') ? 'admin' : undefined;
}
