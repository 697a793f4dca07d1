/** A tool call in the audit: calls that may act from their start to their end, read-only calls when they are denied. */

import type { Recorder, SideEffect } from '../../events/audit.ts';
import type { Principal } from '../../base/principal.ts';
import type { Span, SpanEnd } from '../../events/span.ts';
import type { InputSummary } from '../../tools/input-summary.ts';
import { mayAct } from '../../tools/lost-call.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RunRedaction } from '../../permission/redaction/run-redaction.ts';

/** Writes the audit of one call. */
export interface CallAudit {
  /** Is waited for before the tool runs; where it rejects, the tool must not. */
  readonly start: (() => Promise<void>) | undefined;
  /** Never rejects. */
  readonly end: (how: SpanEnd) => Promise<void>;
}

/** What the audit of a call needs. */
interface CallAuditOptions extends Pick<SideEffect, 'actor'> {
  readonly span: Span;
  readonly toolCallId: string;
  readonly approved: boolean | undefined;
  readonly input: () => InputSummary;
  readonly principal: Principal;
  readonly agent: { readonly id: string };
  readonly recorder: Recorder;
  readonly redaction: Pick<RunRedaction, 'text'>;
}

/** Creates the audit of a call. It writes only a summary of the input, and no secret of the run. */
export function createCallAudit({ definition }: Tool, options: CallAuditOptions): CallAudit {
  let started: ReturnType<Recorder['start']> | undefined;
  let writeEnd: Awaited<typeof started>;
  const start = async (): Promise<void> => {
    started = options.recorder.start(sideEffectOf(definition.id, options));
    writeEnd = await started;
  };
  return {
    start: mayAct(definition) ? start : undefined,
    async end(how) {
      if (writeEnd) await writeEnd(how);
      // The call timed out while its start was being written: its end follows that write, and no caller waits.
      else if (started) void started.then((write) => write(how), () => undefined);
      else if (how.status === 'denied') await options.recorder.refuse(sideEffectOf(definition.id, options), how);
    },
  };
}

function sideEffectOf(
  toolId: string,
  { span, toolCallId, approved, input, principal, agent, actor, redaction }: CallAuditOptions,
): SideEffect {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    tenant: principal.tenant,
    actor,
    action: 'tool.call',
    target: { type: 'tool', id: toolId },
    payload: {
      agent: agent.id,
      subject: redaction.text(principal.subject),
      toolCallId: redaction.text(toolCallId.slice(0, 64)),
      approved,
      ...input(),
    },
  };
}
