/** What changes something, done as it must be: the permission hook is asked, and the audit written before it is done and after. */

import type { Recorder, SideEffect } from '../events/audit.ts';
import { toData } from '../base/errors.ts';
import { requirePermission, type Wish } from './authorize.ts';
import type { Authorize } from '../contracts/authorize.ts';
import { type SpanContext, type SpanEnd, statusOfError } from '../events/span.ts';

/** What is done, by whom, and where it is told of. */
export interface GuardedDeed extends Pick<SideEffect, 'actor' | 'action' | 'target' | 'payload'> {
  /** Without one, whoever composes: nobody else need be asked. */
  readonly principal: Wish['principal'] | undefined;
  /** The tenant whose record the target is; absent, it is shared or is no record. */
  readonly owner?: string | undefined;
  /** What the hook gets besides. */
  readonly context?: Wish['context'];
  readonly place: SpanContext;
  /** What cannot be done if it is refused: `Cannot update the agent`. */
  readonly attempt: string;
}

/** Who is asked, and who writes. */
export interface Guards {
  readonly authorize: Authorize | undefined;
  readonly recorder: Recorder;
}

/**
 * Does the work, which tells of itself; a refusal is told of here. Rejects as the work does.
 *
 * @throws PinnaceError `forbidden` or `approval_required` as the hook says, `unavailable` (`audit_unavailable`) where it cannot be
 * written down; then nothing was done.
 */
export async function guarded<T>(
  { principal, owner, context, place, attempt, ...facts }: GuardedDeed,
  { authorize, recorder }: Guards,
  work: () => Promise<T>,
): Promise<T> {
  const { action, target } = facts;
  const deed: SideEffect = { traceId: place.traceId, tenant: principal?.tenant, ...facts };
  const refused = (thrown: unknown): SpanEnd => {
    const error = toData(thrown);
    const how = { status: statusOfError(error), error };
    place.emit({ ...facts, ...how });
    return how;
  };
  if (principal && authorize) {
    try {
      const resource = owner === undefined ? target : { ...target, tenant: owner };
      await requirePermission(authorize, { action, principal, resource, ...(context && { context }) }, attempt);
    } catch (thrown) {
      await recorder.refuse(deed, refused(thrown));
      throw thrown;
    }
  }
  const end = await recorder.start(deed).catch((thrown: unknown) => {
    refused(thrown);
    throw thrown;
  });
  try {
    const result = await work();
    await end({ status: 'ok' });
    return result;
  } catch (thrown) {
    const error = toData(thrown);
    await end({ status: statusOfError(error), error });
    throw thrown;
  }
}
