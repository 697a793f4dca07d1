/** A person's call of a tool that is being made, in the audit. */

import { createRecorder } from '../../../src/events/audit.ts';
import { createTraceId } from '../../../src/events/trace-ids.ts';
import { createAudit, localPrincipal, type Storage, type Tool, type ToolOutcome } from '../../../src/index.ts';
import { mayAct } from '../../../src/tools/call-ends.ts';

/** Records a trial in the audit log. */
interface TrialAudit {
  /** Awaited before the tool runs. */
  readonly start: (() => Promise<void>) | undefined;
  readonly end: (outcome: ToolOutcome) => Promise<void>;
}

/** Records a tool with side effects before and after its trial, like the call of an agent. */
export function auditTrial(
  { definition }: Tool,
  { storage, agentId }: { readonly storage: Storage; readonly agentId: string },
): TrialAudit {
  if (!mayAct(definition)) return { start: undefined, end: () => Promise.resolve() };
  const recorder = createRecorder({ audit: createAudit({ storage }), emit: () => undefined, now: Date.now });
  const { tenant, subject } = localPrincipal();
  let ended: Awaited<ReturnType<typeof recorder.start>> | undefined;
  return {
    async start() {
      ended = await recorder.start({
        traceId: createTraceId(),
        tenant,
        actor: { type: 'user', id: subject },
        action: 'tool.call',
        target: { type: 'tool', id: definition.id },
        payload: { agent: agentId, subject, approved: true },
      });
    },
    async end(outcome) {
      await ended?.({ status: outcome.ok ? 'ok' : 'error', error: outcome.ok ? null : outcome.error });
    },
  };
}
