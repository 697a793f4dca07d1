/** Executes one run: the loop drives, the live run records, tool calls are made and observed. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { toPinnaceError } from '../base/errors.ts';
import type { SpanEnd } from '../events/span.ts';
import { askedIn, createLoopApprovals, spendApprovals } from './calls/approvals.ts';
import { createRunScope } from '../tools/run-scope.ts';
import { createCitations } from './loop/citations.ts';
import { withContext } from './loop/context.ts';
import { settleCalls } from './continue-run.ts';
import { createDriver, type Driver } from './driver.ts';
import { type IssuedMetadata, readIssued } from './loop/issued-metadata.ts';
import { createLiveCalls } from './calls/live-calls.ts';
import type { LiveRun } from './log/live-run.ts';
import { createLoopSpans } from './loop/loop-spans.ts';
import { toModelMessages } from './loop/model-messages.ts';
import { endOfAbort, failed, type Loop, startLoop, type Usage } from './loop/sdk-loop.ts';
import { createPreparedCalls } from './calls/prepared-calls.ts';
import { createAnnouncements, createInvoke } from './calls/run-calls.ts';
import { closingChunks, openingChunks } from './log/run-chunks.ts';
import type { RunEnd } from './log/run-end.ts';
import type { RunOptions } from './run-options.ts';
import { createStepTools } from './loop/step-tools.ts';

/** Executes the run to its end, into its record. Never throws. */
export function executeRun(options: RunOptions, live: LiveRun): void {
  const { runId, traceId, span, abort, now, redaction, plan } = options;
  const { signal } = abort;
  const startedAt = now();
  // A plan has a deadline of its own, and it may be a long one.
  const totalMs = plan ? Infinity : options.limits.totalMs;
  const usage = {
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    steps: 0,
    toolCalls: 0,
    toolTokens: 0,
    toolTokensSaved: 0,
  };
  const stepTools = createStepTools({ ...options, chatId: options.request.chat.id });
  const spans = createLoopSpans(options);
  const announced = createAnnouncements();
  const calls = createLiveCalls(options);
  const prepared = createPreparedCalls(options);
  const scope = createRunScope();
  const push = (chunk: UIMessageChunk): void => driver.push(chunk);
  const citeOf = createCitations(options.request.chat.messages, push);
  const invoke = createInvoke(options, { usage, live, calls, announced, prepared, scope, citeOf, spans, push });
  let loop: Loop | undefined;
  /** Before the loop: the calls that a person has decided on since. */
  const begin = async (): Promise<Loop> => {
    if (plan) return plan.follow({ signal, traceId, usage });
    const restoring = Promise.all([spendApprovals(options), issuedTo(options), stepTools.restore()]);
    const [asked, issued] = await restoring.catch((error: unknown) => {
      throw toPinnaceError(error); // of the storage: no model was called yet
    });
    const messages = await settleCalls(options.request.chat.messages, { calls: asked, invoke, push, signal, traceId });
    return startLoop({
      ...options,
      model: spans.model,
      spans,
      messages: asked.length === 0
        ? options.messages
        : withContext(await toModelMessages(messages, issued), options.request.context),
      tools: stepTools,
      allTools: options.toolSet.tools,
      tokenBudget: options.request.budget?.tokens,
      signal,
      usage,
      approvals: createLoopApprovals(options, { prepared, spans }),
      invoke,
    });
  };
  const finalUsage = () => ({ ...usage, durationMs: now() - startedAt });
  const driver: Driver = createDriver({
    opening: openingChunks({ runId, traceId, messageId: continuedMessage(options) }, options.toolSet),
    read: async () => await (loop ??= await begin()).read(),
    failure: (error) => signal.aborted ? endOfAbort(signal) : failed(error),
    closing: (end) => [
      ...redaction.flush(),
      ...calls.closing(end),
      ...closingChunks(end, { runId, traceId, usage: finalUsage() }),
    ],
    record(chunk) {
      calls.observe(chunk);
      for (const safe of redaction.chunks(chunk)) live.record(safe);
      if (chunk.type === 'tool-input-available') announced.tell(chunk.toolCallId);
    },
    onEnd(how) {
      const end = redaction.data(how);
      abort.release();
      void scope.close();
      const told = { status: statuses[end.type], error: 'error' in end ? end.error : null };
      spans.end(told);
      countRun(options, end, usage);
      void live.end(end, {
        usage: finalUsage(),
        onRecorded: (unrecorded) =>
          span.end(
            unrecorded
              ? { status: 'error', error: unrecorded, payload: { state: 'failed' } }
              : { ...told, payload: { state: end.type } },
          ),
      });
    },
  });
  abort.whenAborted(totalMs, () => {
    const end = (): void => driver.end(endOfAbort(signal));
    if (plan) void plan.abandon(signal.reason).then(end);
    else end();
  });
  void driver.start();
}

/** Reads what the continued message needs to go back to the model. */
async function issuedTo(
  { continues, storage, principal, agent: { id: agentId }, request: { chat } }: RunOptions,
): Promise<IssuedMetadata | undefined> {
  if (continues === undefined) return undefined;
  return await readIssued(storage, { principal, agentId, chatId: chat.id, runId: continues });
}

/** A run that settles calls of the chat's last message goes on with that message. */
function continuedMessage({ request: { chat }, runId }: RunOptions): string {
  const last = chat.messages.at(-1);
  return last && askedIn(last).length > 0 ? last.id : `msg_${runId.slice(4)}`;
}

const statuses: Record<RunEnd['type'], SpanEnd['status']> = {
  completed: 'ok',
  awaiting_approval: 'ok',
  suspended: 'ok',
  stopped: 'error',
  cancelled: 'cancelled',
  failed: 'error',
};

function countRun({ metrics, request: { budget } }: RunOptions, end: RunEnd, { totalTokens }: Usage): void {
  metrics.count('pinnace_runs_total', { state: end.type });
  if (budget?.tokens === undefined) return;
  metrics.count('pinnace_budget_tokens_total', { of: 'run', kind: 'granted' }, budget.tokens);
  metrics.count('pinnace_budget_tokens_total', { of: 'run', kind: 'used' }, totalTokens);
}
