/** Asks the host's permission hook. It fails closed: an error, a timeout or an invalid answer denies. */

import { PinnaceError } from '../base/errors.ts';
import type { Authorization, Authorize } from '../contracts/authenticator.ts';
import { approverName, type DelegatedRecord } from './ownership.ts';

/** The action to authorize. */
export interface Wish {
  /** `tool.call`, `registry.update`, `planner.create`, … */
  readonly action: string;
  readonly principal: Parameters<Authorize>[1];
  readonly resource: Parameters<Authorize>[2];
  readonly context?: Parameters<Authorize>[3];
}

/** The decision of the hook, or the denial that follows from its failure. */
export type Ruling =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string; readonly code: RefusalCode }
  | { readonly decision: 'ask'; readonly reason: string; readonly code: RefusalCode } & ApprovalTerms;

/** Who decides on a call that a person must approve: its owner, unless others are named. */
export type ApprovalTerms = Pick<
  Extract<Authorization, { decision: 'ask' }>,
  'approvers' | 'fourEyes' | 'withinMs' | 'edit'
>;

/** The reason code of a denial: `not_authorized` for one by the hook, the last two where another person must decide. */
export type RefusalCode =
  | 'not_authorized'
  | 'permission_check_failed'
  | 'permission_check_timeout'
  | 'own_request'
  | 'not_an_approver';

/** The most approvers of one question. */
export const mostApprovers = 5;

/** The timeout of a hook. */
const maxMs = 5000;

/** Calls the `authorize` hook. Never throws. */
export async function requestPermission(
  authorize: Authorize,
  { action, principal, resource, context = {} }: Wish,
): Promise<Ruling> {
  return await callHook(() => authorize(action, principal, resource, context));
}

/** Calls a hook with another signature in the same way. Never throws. */
export async function callHook(hook: () => ReturnType<Authorize>): Promise<Ruling> {
  try {
    const answer = hook();
    const settled = answer instanceof Object && 'then' in answer ? await inTime(answer) : answer;
    return settled instanceof Object ? rulingOf(settled) : unclear;
  } catch {
    return failed; // its text may hold secrets
  }
}

const failed: Ruling = {
  decision: 'deny',
  reason: 'the permission check failed',
  code: 'permission_check_failed',
};
const unclear: Ruling = { ...failed, reason: 'the permission check returned no { decision }' };
const late: Ruling = {
  decision: 'deny',
  reason: 'the permission check took too long',
  code: 'permission_check_timeout',
};

function rulingOf(answer: Authorization | Ruling): Ruling {
  if (answer.decision === 'allow') return { decision: 'allow' };
  if (answer.decision !== 'ask' && answer.decision !== 'deny') return unclear;
  if (answer.decision === 'deny') return { code: 'not_authorized', ...answer };
  const { decision, reason, approvers, fourEyes, withinMs, edit } = answer;
  if (approvers !== undefined && !isApprovers(approvers)) return failed;
  if (withinMs !== undefined && !(Number.isInteger(withinMs) && withinMs > 0)) return failed;
  const terms = {
    ...(approvers && { approvers: [...approvers] }),
    ...(fourEyes && { fourEyes: true as const }),
    ...(withinMs !== undefined && { withinMs }),
    ...(edit === false && { edit }),
  };
  return { decision, reason, code: 'not_authorized', ...terms };
}

function isApprovers(names: unknown): boolean {
  return Array.isArray(names) && names.length <= mostApprovers &&
    names.every((name) => approverName.test(String(name)));
}

/** A hook that answers synchronously needs no timer. */
async function inTime(answer: Promise<Authorization>): Promise<Authorization | Ruling> {
  const { promise: overdue, resolve } = Promise.withResolvers<Ruling>();
  const timer = setTimeout(() => resolve(late), maxMs);
  try {
    return await Promise.race([answer, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks the hook, and throws unless it allows the action, or asks for what a person has `approved`. `attempt` starts the error's text:
 * `Cannot update the agent`.
 *
 * @throws PinnaceError `forbidden`, `approval_required` where the hook requires a person's approval; `details.reason` is the code.
 */
export async function requirePermission(
  authorize: Authorize,
  wish: Wish,
  { attempt, approved }: { readonly attempt: string; readonly approved?: Deciders | undefined },
): Promise<void> {
  const ruling = await requestPermission(authorize, wish);
  if (ruling.decision === 'allow' || (ruling.decision === 'ask' && approved && askSame(ruling, approved))) return;
  throw refusal(ruling, attempt);
}

/** Who decides. */
export type Deciders = Pick<DelegatedRecord, 'approvers' | 'fourEyes'>;

/** Whether two rulings want the same persons to decide. */
export function askSame(one: Deciders, other: Deciders): boolean {
  const namesIn = ({ approvers = [] }: Deciders): string => JSON.stringify(approvers.toSorted());
  return namesIn(one) === namesIn(other) && one.fourEyes === other.fourEyes;
}

/** The error of a denial. */
export function refusal(
  ruling: Exclude<Ruling, { decision: 'allow' }>,
  attempt: string,
): PinnaceError {
  const { decision, reason, code } = ruling;
  const terms = decision === 'ask' &&
    { approvers: ruling.approvers, fourEyes: ruling.fourEyes, withinMs: ruling.withinMs };
  return new PinnaceError(decision === 'ask' ? 'approval_required' : 'forbidden', `${attempt}: ${reason}`, {
    details: { reason: code, ...terms },
  });
}
