/** Runs a side effect: calls the permission hook, and writes the audit before and after. */

import { type CallerTrace, type SpanContext, type SpanEnd, type SpanEvent, statusOfError } from '../events/span.ts';
import type { Principal } from '../base/principal.ts';
import type { Recorder, SideEffect } from '../events/audit.ts';
import { toData } from '../base/errors.ts';
import { type Deciders, requirePermission, type Wish } from './authorize.ts';
import type { Authorize } from '../contracts/authenticator.ts';

/** A guarded side effect, its principal, and the span context of its events. */
export interface GuardedEffect extends Pick<SideEffect, 'actor' | 'action' | 'target' | 'payload'> {
  /** Absent for the composition itself, which the hook need not allow. */
  readonly principal: Wish['principal'] | undefined;
  /** The tenant of the target record; absent for shared records and other targets. */
  readonly owner?: string | undefined;
  /** The owner of the target record; absent for a record without one. */
  readonly subject?: string | undefined;
  /** Further facts for the hook. */
  readonly context?: Wish['context'];
  readonly spanContext: SpanContext;
  /** What a person has approved: the hook may ask for exactly this. */
  readonly approved?: Deciders | undefined;
  /** The start of a refusal's text: `Cannot update the agent`. */
  readonly attempt: string;
}

/** The hook and the recorder. */
export interface Guards {
  readonly authorize: Authorize | undefined;
  readonly recorder: Recorder;
}

/**
 * Runs the work, which emits its own events; emits a refusal here. Rejects as the work does.
 *
 * @throws PinnaceError `forbidden` or `approval_required` as the hook decides, `unavailable` (`audit_unavailable`) when it cannot be
 * recorded; then the work did not run.
 */
export async function guarded<T>(
  { principal, owner, subject, context, approved, spanContext, attempt, ...facts }: GuardedEffect,
  { authorize, recorder }: Guards,
  work: () => Promise<T>,
): Promise<T> {
  const { action, target } = facts;
  const sideEffect: SideEffect = { traceId: spanContext.traceId, tenant: principal?.tenant, ...facts };
  const refused = (thrown: unknown): SpanEnd => {
    const error = toData(thrown);
    const how = { status: statusOfError(error), error };
    spanContext.emit({ ...facts, ...how });
    return how;
  };
  if (principal && authorize) {
    try {
      const resource = {
        ...target,
        ...(owner !== undefined && { tenant: owner }),
        ...(subject !== undefined && { subject }),
      };
      const wish = { action, principal, resource, ...(context && { context }) };
      await requirePermission(authorize, wish, { attempt, approved });
    } catch (thrown) {
      await recorder.refuse(sideEffect, refused(thrown));
      throw thrown;
    }
  }
  const end = await recorder.start(sideEffect).catch((thrown: unknown) => {
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

/** What a principal does outside runs. */
export interface OutsideEffect
  extends Pick<GuardedEffect, 'action' | 'target' | 'subject' | 'payload' | 'context' | 'approved' | 'attempt'> {
  readonly principal: Principal;
  /** A trace of its own when absent. */
  readonly trace?: CallerTrace;
}

/** Guards a side effect outside of runs, at the place of its principal. Rejects as {@link guarded} does. */
export type Guard = <T>(effect: OutsideEffect, work: (spanContext: SpanContext) => Promise<T>) => Promise<T>;

/** Guards a side effect and emits it when it is done: with what `done` says of the result, else with its own payload. */
export async function guardEmitted<T = void>(
  guard: Guard,
  { done, ...effect }: OutsideEffect & { readonly done?: (result: T) => NonNullable<SpanEvent['payload']> },
  work: () => Promise<T>,
): Promise<T> {
  const { action, target } = effect;
  return await guard(effect, async (at) => {
    const result = await work();
    const payload = done ? done(result) : effect.payload;
    at.emit({ action, target, status: 'ok', ...(payload && { payload }) });
    return result;
  });
}

/** Guards and emits that an administrator reads what belongs to another. */
export async function guardRead(guard: Guard, effect: OutsideEffect): Promise<void> {
  await guardEmitted(guard, effect, () => Promise.resolve());
}
