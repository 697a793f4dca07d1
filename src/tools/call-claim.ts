/** What a decision of a person on a call is bound to, and the errors of calls that were not approved. */

import { PinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type {
  EarlierClaim,
  SpendClaim,
  SpentDecision,
  Unspendable,
  UnspendableReason,
} from '../permission/interruption.ts';

/** Whose decision it is, and where. */
export interface ClaimHost {
  readonly agent: Agent;
  readonly principal: Principal;
  readonly request: { readonly chat: { readonly id: string } };
}

/**
 * Returns the claim on a decision about something, which is JSON: digests over everything that the decision is about. Whose it is, in
 * which chat, by which agent, which tool as it was, with what input.
 */
export async function claimOn(host: ClaimHost, about: readonly unknown[]): Promise<SpendClaim> {
  const { tenant, subject } = host.principal;
  return { tenant, subject, ...await digestsOf([tenant, { subject }], host, about) };
}

/** Returns what version 0.2 wrote for the same decision: it named the tenant alone. */
export function earlierClaim(host: ClaimHost, about: readonly unknown[]): Promise<EarlierClaim> {
  return digestsOf([host.principal.tenant], host, about);
}

async function digestsOf(
  owner: readonly unknown[],
  { request: { chat }, agent: { id, revision } }: ClaimHost,
  about: readonly unknown[],
): Promise<EarlierClaim> {
  const [place, binding] = await Promise.all([
    sha256(canonicalJson([...owner, chat.id, id])),
    sha256(canonicalJson([...owner, chat.id, [id, revision], ...about])),
  ]);
  return { place, binding };
}

const unspendable: Readonly<Record<UnspendableReason, string>> = {
  approval_not_found: 'no approval has this id',
  approval_undecided: 'no one has decided on it yet',
  approval_expired: 'its approval has expired; ask for it again',
  approval_spent: 'its approval was used before; each is good for one call',
  approval_moved: 'its approval was given in another chat or to another agent',
  approval_altered: 'the call, its tool or its agent has changed since the approval was asked for',
};

/** The error of a call that was not approved. */
export function notApproved(toolId: string, decision: SpentDecision | Unspendable): PinnaceError {
  if ('unspendable' in decision) {
    const { unspendable: reason } = decision;
    const message = `Tool "${toolId}" was not called: ${unspendable[reason]}`;
    return new PinnaceError('approval_required', message, { details: { reason } });
  }
  const why = decision.reason === undefined ? '' : `: ${decision.reason}`;
  return new PinnaceError('forbidden', `Tool "${toolId}" was not called: a person denied it${why}`, {
    details: { reason: 'approval_denied' },
  });
}
