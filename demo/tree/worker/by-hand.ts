/** A person's changes to the stored tree: emitted and audited like an agent's. */

import { type ErrorData, toData } from '../../../src/base/errors.ts';
import { type HostedRuntime, localPrincipal, PinnaceError } from '../../../src/index.ts';
import type { TreeOutcome } from '../../../src/tree/index.ts';

/** The part of a runtime that is used. */
export type Guard = Pick<HostedRuntime, 'guard'>;

/** Makes a change at the tree; where it cannot be written down, it is not made. What the tree refuses is an outcome, as ever. */
export async function byHand(
  { guard }: Guard,
  tool: string,
  change: () => Promise<TreeOutcome>,
): Promise<TreeOutcome> {
  const [action, target] = [`tree.${tool}`, { type: 'tree', id: 'yard' }];
  let outcome: TreeOutcome = notWritten;
  try {
    await guard({ principal: localPrincipal(), action, target, attempt: 'Cannot change the tree' }, async (place) => {
      const span = place.start({ action, target });
      outcome = await change();
      if (outcome.ok) return span.end({ status: 'ok' });
      span.end({ status: 'error', error: outcome.error });
      throw new PinnaceError(outcome.error.code, 'Cannot change the tree: permission denied'); // so that the audit says so
    });
  } catch (error) {
    // The outcome says it, where the change was tried.
    if (outcome === notWritten) outcome = { ok: false, error: { ...notWritten.error, ...reasonOf(error) } };
  }
  return outcome;
}

function reasonOf(error: unknown): Partial<Pick<ErrorData, 'details'>> {
  const { details } = toData(error);
  return details ? { details } : {};
}

const notWritten: TreeOutcome & { readonly ok: false } = {
  ok: false,
  error: {
    code: 'internal',
    message: 'Cannot change the tree: the change cannot be recorded in the audit; try again',
    retryable: true,
  },
};
