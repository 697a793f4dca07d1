/** A person's call of a tool that is being made, in the audit. */

import { createRecorder } from '../../../src/events/audit.ts';
import { createTraceId } from '../../../src/events/trace-ids.ts';
import { createAudit, localPrincipal, type Storage, type Tool, type ToolOutcome } from '../../../src/index.ts';
import { mayAct } from '../../../src/tools/lost-call.ts';

/** What writes a trial down. */
interface TrialAudit {
  /** Is waited for before the tool runs. */
  readonly begin: (() => Promise<void>) | undefined;
  readonly end: (outcome: ToolOutcome) => Promise<void>;
}

/** What may act is written down before and after, as a call of an agent is. */
export function auditTrial(
  { definition }: Tool,
  { storage, agentId }: { readonly storage: Storage; readonly agentId: string },
): TrialAudit {
  if (!mayAct(definition)) return { begin: undefined, end: () => Promise.resolve() };
  const recorder = createRecorder({ audit: createAudit({ storage }), emit: () => undefined, now: Date.now });
  const { tenant, subject } = localPrincipal();
  let ended: Awaited<ReturnType<typeof recorder.start>> | undefined;
  return {
    async begin() {
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
