/** The runtime's methods about runs: start, read, cancel, decide and reply. */

import { PinnaceError } from '../base/errors.ts';
import { requireScope } from '../base/principal.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { decide } from '../permission/decide.ts';
import { chunksOf } from './log/chunks-of.ts';
import { countRefusedRun } from './request-refusals.ts';
import type { RuntimeParts } from './runtime-options.ts';
import type { HostedRuntime } from './runtime.ts';
import { startRun } from './start-run.ts';

type RunMethods = Pick<HostedRuntime, 'start' | 'cancel' | 'run' | 'resume' | 'decide' | 'reply'>;

/** Creates the methods. */
export function createRunMethods(parts: RuntimeParts, { guard }: Pick<HostedRuntime, 'guard'>): RunMethods {
  const { runs } = parts;
  const start: RunMethods['start'] = (input, principal, given) => startCounted(parts, input, { ...given, principal });
  const cancel = cancelOf(parts, guard);
  return {
    start,
    cancel,
    async run(input, principal, { signal, idempotencyKey: key } = {}) {
      const idempotency = key === undefined ? undefined : { key, fingerprint: JSON.stringify(input) };
      const left = new AbortController();
      const { runId } = await start(input, principal, { signals: [signal, left.signal], idempotency });
      return chunksOf(await runs.answer(principal, runId), () => left.abort('client_gone'));
    },
    async resume(runId, after, { principal, signal }) {
      const cursor = await runs.cursor(principal, runId, after);
      const stop = (): void => void cancel(runId, principal).catch(() => undefined); // its stream shows how it ends
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
      return chunksOf(cursor, stop);
    },
    decide: (...given) => decideOnCall(parts, ...given),
    reply: (...given) => replyToPlan(parts, ...given),
  };
}

async function startCounted(parts: RuntimeParts, input: unknown, options: Parameters<typeof startRun>[2]) {
  try {
    requireScope(options.principal, 'run:create');
    parts.requireOpen();
    return await startRun(parts, input, options);
  } catch (error) {
    countRefusedRun(parts.metrics, error);
    throw error;
  }
}

function cancelOf({ runs }: RuntimeParts, guard: HostedRuntime['guard']): RunMethods['cancel'] {
  return async (runId, principal, { trace } = {}) => {
    const { state, agentId, traceId } = await runs.status(principal, runId, 'run:cancel');
    if (state !== 'running') return;
    const facts = { action: 'run.cancel', target: { type: 'run', id: runId } };
    const request = { ...facts, principal, trace: trace ?? { traceId }, context: { agentId } };
    await guard({ ...request, attempt: 'Cannot cancel the run' }, async (at) => {
      await runs.cancel(principal, runId);
      at.emit({ ...facts, status: 'ok' });
    });
  };
}

async function decideOnCall(
  parts: RuntimeParts,
  ...[runId, id, decision, principal]: Parameters<HostedRuntime['decide']>
): Promise<void> {
  requireScope(principal, 'tool:approve');
  const run = await parts.runs.status(principal, runId, 'tool:approve').catch(() => undefined); // `decide` says why not
  const { approved } = decision;
  const facts = { principal, traceId: run?.traceId ?? createTraceId(), agentId: run?.agentId, id };
  const deciding = { ...facts, input: { runId, approved }, payload: { runId: run?.runId, approved } };
  await decide(deciding, parts, () => parts.interruptions.decide(principal, runId, id, decision));
}

async function replyToPlan(
  { runs, plans }: RuntimeParts,
  ...[runId, reply, principal]: Parameters<HostedRuntime['reply']>
): Promise<void> {
  // A question of an agent that a tool of the run has called: its id starts with that of the plan.
  const { planId = /^(plan_\w+)\./.exec(reply.askId)?.[1] } = await runs.status(principal, runId, 'tool:approve');
  if (planId === undefined || !plans) throw new PinnaceError('not_found', 'Cannot reply: this run follows no plan');
  await plans.reply(planId, principal, reply);
}
