/** The one way to ask the host's permission hook. It fails closed: an error, silence and nonsense all deny. */

import { PinnaceError } from '../base/errors.ts';
import type { Authorization, Authorize } from '../contracts/authorize.ts';

/** What somebody wants to do. */
export interface Wish {
  /** `tool.call`, `registry.update`, `planner.create`, … */
  readonly action: string;
  readonly principal: Parameters<Authorize>[1];
  readonly resource: Parameters<Authorize>[2];
  readonly context?: Parameters<Authorize>[3];
}

/** What the hook says, or what its failure comes to. */
export type Ruling =
  | { readonly decision: 'allow' }
  | { readonly decision: 'ask' | 'deny'; readonly reason: string; readonly code: RefusalCode };

/** Why something was refused, for programs: `not_authorized` where the hook has said so. */
export type RefusalCode = 'not_authorized' | 'permission_check_failed' | 'permission_check_timeout';

/** The longest time that a hook may take. */
const maxMs = 5000;

/** Asks. Never throws. */
export async function askPermission(
  authorize: Authorize,
  { action, principal, resource, context = {} }: Wish,
): Promise<Ruling> {
  return await askHook(() => authorize(action, principal, resource, context));
}

/** Asks a hook of another form, with the same care. Never throws. */
export async function askHook(hook: () => ReturnType<Authorize>): Promise<Ruling> {
  try {
    const answer = hook();
    return rulingOf('then' in answer ? await inTime(answer) : answer); // one that is no object throws
  } catch {
    return failed; // its text is nobody's business
  }
}

const failed: Ruling = {
  decision: 'deny',
  reason: 'the permission check failed',
  code: 'permission_check_failed',
};
const late: Ruling = {
  decision: 'deny',
  reason: 'the permission check took too long',
  code: 'permission_check_timeout',
};

function rulingOf(answer: Authorization | Ruling): Ruling {
  if (answer.decision === 'allow') return { decision: 'allow' };
  if (answer.decision !== 'ask' && answer.decision !== 'deny') return failed;
  return { code: 'not_authorized', ...answer };
}

/** A hook that knows its answer at once needs no timer. */
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
 * Asks, and goes on only where it is allowed. `attempt` says what cannot be done: `Cannot update the agent`.
 *
 * @throws PinnaceError `forbidden`, `approval_required` where the hook wants a person asked first; `details.reason` is the code.
 */
export async function requirePermission(authorize: Authorize, wish: Wish, attempt: string): Promise<void> {
  const ruling = await askPermission(authorize, wish);
  if (ruling.decision !== 'allow') throw refusal(ruling, attempt);
}

/** The error of a refusal. */
export function refusal(
  { decision, reason, code }: Exclude<Ruling, { decision: 'allow' }>,
  attempt: string,
): PinnaceError {
  return new PinnaceError(decision === 'ask' ? 'approval_required' : 'forbidden', `${attempt}: ${reason}`, {
    details: { reason: code },
  });
}
