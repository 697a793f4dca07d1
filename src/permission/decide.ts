/** A person's decision: checked by the permission hook, recorded in the audit, and emitted in the trace of the request. */

import { type ErrorData, toData, toPinnaceError } from '../base/errors.ts';
import type { Emit } from '../events/events.ts';
import { guarded, type GuardedEffect, type Guards } from './guarded.ts';
import { actorOf, statusOfError, traceAt } from '../events/span.ts';
import type { Principal } from '../base/principal.ts';

/** What deciding works with. */
export interface DecideOptions extends Guards {
  readonly emit: Emit;
  readonly now: () => number;
}

/** A decision and the person who makes it. */
export interface Deciding extends Pick<GuardedEffect, 'payload'> {
  readonly principal: Principal;
  /** The trace of the run that requested the approval. */
  readonly traceId: string;
  readonly agentId?: string | undefined;
  /** Who has asked, where it is known. */
  readonly subject?: string | undefined;
  /** The approval or the question. */
  readonly id: string;
  /** The input of the hook. */
  readonly input: unknown;
}

/** Stores the decision. Rejects as `store` does, as the hook denies, and with `unavailable` where it cannot be written down. */
export async function decide<T>(
  { principal, traceId, agentId, subject, id, input, payload = {} }: Deciding,
  options: DecideOptions,
  store: () => Promise<T>,
): Promise<T> {
  const actor = actorOf(principal);
  const spanContext = traceAt({ traceId, tenant: principal.tenant, actor }, options);
  const facts = { action: 'approval.decide', target: { type: 'approval', id: id.slice(0, 64) }, payload };
  const context = { input, ...(agentId !== undefined && { agentId }) };
  return await guarded(
    { ...facts, subject, actor, principal, context, spanContext, attempt: 'Cannot decide' },
    options,
    async () => {
      const startedAt = options.now();
      const emitDecision = (error: ErrorData | null): void => {
        // An unknown id is untrusted caller input: the event does not repeat it.
        const target = error?.code === 'not_found' ? { type: 'approval', id: '' } : facts.target;
        const latency = options.now() - startedAt;
        spanContext.emit({ ...facts, target, status: error ? statusOfError(error) : 'ok', error, latency });
      };
      try {
        const result = await store();
        emitDecision(null);
        return result;
      } catch (thrown) {
        emitDecision(toData(thrown));
        throw toPinnaceError(thrown); // callers do not receive errors of the storage
      }
    },
  );
}
