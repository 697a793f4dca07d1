/** A person's decision on a call that waits for it: stored once, and told of in the trace of the run that asked. */

import { type ErrorData, toData } from '../errors.ts';
import { createTraceId, type Emit } from '../events.ts';
import type { Decision, Interruptions } from '../interruption.ts';
import { statusOfError, traceAt } from '../span.ts';
import type { Principal } from './principal.ts';
import type { Runs } from './runs.ts';

/** What deciding works with. */
export interface DecideOptions {
  readonly interruptions: Interruptions;
  readonly runs: Runs;
  readonly emit: Emit;
  readonly now: () => number;
}

/** What is decided, and by whom. */
export interface Deciding {
  readonly principal: Principal;
  readonly runId: string;
  readonly approvalId: string;
  readonly decision: Decision;
}

/** Stores the decision. Rejects as `Interruptions.decide` does. */
export async function decide(deciding: Deciding, options: DecideOptions): Promise<void> {
  const { principal, runId, approvalId, decision } = deciding;
  const startedAt = options.now();
  const tell = await createTell(deciding, options);
  try {
    await options.interruptions.decide(principal, runId, approvalId, decision);
  } catch (thrown) {
    tell(toData(thrown), options.now() - startedAt);
    throw thrown;
  }
  tell(null, options.now() - startedAt);
}

/** An id that nobody knows is only something that a caller has sent: it is not repeated. */
async function createTell(
  { principal, runId, approvalId, decision: { approved } }: Deciding,
  { runs, ...options }: DecideOptions,
): Promise<(error: ErrorData | null, latency: number) => void> {
  const run = await runs.status(principal, runId, 'tool:approve').catch(() => undefined);
  const actor = { type: 'user', id: principal.subject } as const;
  const place = traceAt({ traceId: run?.traceId ?? createTraceId(), tenant: principal.tenant, actor }, options);
  return (error, latency) =>
    place.tell({
      action: 'approval.decide',
      target: { type: 'approval', id: error?.code === 'not_found' ? '' : approvalId },
      status: error ? statusOfError(error) : 'ok',
      latency,
      error,
      payload: { runId: run?.runId, approved },
    });
}
