/** A tool call in the audit: what may act, from when it is allowed to its end; what only reads, where it is denied. */

import type { Recorder, SideEffect } from '../../events/audit.ts';
import type { Span, SpanEnd } from '../../events/span.ts';
import type { InputSummary } from '../../tools/input-summary.ts';
import { mayAct } from '../../tools/lost-call.ts';
import type { Tool } from '../../tools/tool.ts';
import type { CallFacts, CallOptions } from './call-tool.ts';

/** What is written of one call. */
export interface CallAudit {
  /** Is waited for before the tool runs; where it rejects, the tool must not. */
  readonly begin: (() => Promise<void>) | undefined;
  /** Never rejects. */
  readonly end: (how: SpanEnd) => Promise<void>;
}

/** Gives what writes. Of the input only a summary is written, and nothing holds a secret of the run. */
export function createCallAudit(
  { definition }: Tool,
  { span, call, options, input }: {
    readonly span: Span;
    readonly call: CallFacts;
    readonly options: CallOptions;
    readonly input: () => InputSummary;
  },
): CallAudit {
  const { recorder, actor, principal, agent, redaction } = options;
  const deed = (): SideEffect => ({
    traceId: span.traceId,
    spanId: span.spanId,
    tenant: principal.tenant,
    actor,
    action: 'tool.call',
    target: { type: 'tool', id: definition.id },
    payload: {
      agent: agent.id,
      subject: redaction.text(principal.subject),
      toolCallId: redaction.text(call.toolCallId.slice(0, 64)),
      approved: call.approved,
      ...input(),
    },
  });
  let begun: ReturnType<Recorder['start']> | undefined;
  let writeEnd: Awaited<typeof begun>;
  const begin = async (): Promise<void> => {
    begun = recorder.start(deed());
    writeEnd = await begun;
  };
  return {
    begin: mayAct(definition) ? begin : undefined,
    async end(how) {
      if (writeEnd) await writeEnd(how);
      // The call's time was over while its beginning was still being written: its end follows that, and nobody waits.
      else if (begun) void begun.then((write) => write(how), () => undefined);
      else if (how.status === 'denied') await recorder.refuse(deed(), how);
    },
  };
}
