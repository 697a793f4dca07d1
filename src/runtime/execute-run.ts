/** Executes one run: the driver reads the loop, the live run records its chunks. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { toPinnaceError } from '../base/errors.ts';
import { reportHidden } from '../events/report.ts';
import type { SpanEnd } from '../events/span.ts';
import {
  approvalsRequestedIn,
  type CallForApproval,
  endLeftCalls,
  settleDecided,
  spendApprovals,
} from './decided-calls.ts';
import { callStart, lossAt, type ReportedUsage, type RunEnd } from './run-record.ts';
import { createRunFiles } from './run-files.ts';
import { toModelMessages, withContext } from './model-messages.ts';
import { createRunContext } from './context-window.ts';
import { keepPrompts } from './forks/keep-inputs.ts';
import { type IssuedMetadata, readIssued } from './issued-metadata.ts';
import type { LiveRun } from './live-run.ts';
import { createLoopSpans, type LoopSpans } from './run-spans.ts';
import { endOfAbort, failed, startLoop } from './loop.ts';
import type { LoopOptions } from './loop-options.ts';
import { composeLoop } from './compose-loop.ts';
import { RunCalls } from '../tools/run-calls.ts';
import { createCitations } from './message-parts.ts';
import { createModelBudget, type HoldCall, type ModelBudget, type Usage } from './model-budget.ts';
import { createModelChain, type ModelChain } from './model-chain.ts';
import type { ModelRetry } from './model-error.ts';
import { closingChunks, type Loop, openingChunks, retryChunk } from './run-chunks.ts';
import type { RunOptions } from './run-options.ts';
import { programsOnUse } from './run-programs.ts';
import type { RunScope } from '../tools/run-scope.ts';
import { createSteering, type Steering } from './steering.ts';
import type { RunFiles, RunFilesOptions } from './message-files.ts';

/** Executes the run to its end, into its record. Never throws. */
export function executeRun(options: RunOptions, live: LiveRun): void {
  const { runId, traceId, request, abort, redaction, plan, limits, toolSet, now, startedAt, ttlMs } = options;
  const usage = noUsage();
  const finalUsage = () => ({ ...usage, durationMs: now() - startedAt });
  const push = (chunk: UIMessageChunk): void => driver.push(chunk);
  const spans = createLoopSpans(options);
  const budget = createModelBudget(request.budget ?? {}, usage, holdCallOf(options));
  const files = createRunFiles(filesOf(options, { push, scope: () => calls.scope }));
  const calls: RunCalls = new RunCalls(options, {
    record: (call) => live.commit([callStart(runId, call, ttlMs)]),
    usage,
    budget,
    spans,
    push,
    settled: (outcome) => files.settled(outcome),
    citeOf: createCitations(request.chat.messages, push),
  });
  const steering = createSteering(live.inbox, { ...options, spans });
  const onPrompt = keepPrompts(options, { live, usage });
  const parts = { usage, budget, spans, calls, steering, push, files, onPrompt };
  let loop: Loop | undefined;
  const driver: Driver = createDriver({
    opening: options.resumed?.opening ??
      openingChunks({ runId, traceId, messageId: continuedMessage(options) }, toolSet),
    async read() {
      const gate = loop && options.startGate.pass(); // its own start does not wait
      if (gate) await gate;
      return await (loop ??= await openLoop(options, parts)).read();
    },
    failure(error) {
      if (abort.signal.aborted) return endOfAbort(abort.signal);
      reportHidden(options.report, error, { kind: 'run', step: spans.step });
      return failed(error);
    },
    closing: (end) => [
      ...redaction.flush(),
      ...calls.closing(lossAt(end)),
      ...steering.close(),
      ...closingChunks(end, { runId, traceId, usage: finalUsage() }),
    ],
    record(chunk) {
      calls.observe(chunk);
      for (const safe of redaction.chunks(chunk)) live.record(safe);
      calls.shown(chunk);
    },
    onEnd(end) {
      abort.release();
      budget.close();
      void calls.close();
      endRun(redaction.data(end), options, { live, spans, usage: finalUsage() });
    },
  });
  // A plan has a deadline of its own, which may be longer.
  abort.whenAborted(plan ? Infinity : limits.totalMs, () => {
    const end = (): void => driver.end(endOfAbort(abort.signal));
    if (plan) void plan.abandon(abort.signal.reason).then(end);
    else end();
  });
  void driver.start();
}

function holdCallOf(
  { budgets, agent: { id: agentId }, principal: { tenant, subject } }: RunOptions,
): HoldCall | undefined {
  return budgets && ((need) => budgets.hold({ tenant, subject, agentId }, need));
}

type RunUsage = Usage & { toolCalls: number };

function noUsage(): RunUsage {
  return {
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    steps: 0,
    toolCalls: 0,
    toolTokens: 0,
    toolTokensSaved: 0,
  };
}

/** Opens the run's loop, after the calls that a person has decided on since. A run with a plan follows that instead. */
async function openLoop(
  options: RunOptions,
  { usage, budget, spans, calls, steering, push, files, onPrompt }: {
    readonly usage: RunUsage;
    readonly budget: ModelBudget;
    readonly spans: LoopSpans;
    readonly calls: RunCalls;
    readonly steering: Steering;
    readonly push: (chunk: UIMessageChunk) => void;
    readonly files: RunFiles;
    readonly onPrompt: LoopOptions['onPrompt'];
  },
): Promise<Loop> {
  const { plan, abort: { signal }, request: { chat, context }, traceId, toolSet, stepTools } = options;
  if (plan) return plan.follow({ signal, traceId, usage });
  const composed = await composeLoop(options, signal); // before approvals are spent: code of the agent may fail
  const programs = programsOnUse(options, { calls, push });
  const [spent, past, issued] = await restored(options);
  const decided = [...spent, ...await programs.resumed()];
  const settled = await settleDecided(past, { decided, calls, push, signal, traceId });
  if (options.resumed?.programs.length) push({ type: 'finish-step' }); // the lost run has not ended the step of its programs
  if (settled.waiting > 0) return waitingLoop();
  const models = modelsOf(options, spans);
  const onRetry = (retry: ModelRetry): void => push(retryChunk(retry, options.now()));
  const toModel = options.resumed?.toModel ??
    ((all: readonly UIMessage[]) => withContext(toModelMessages(all, issued), context));
  const messages = settled.messages === chat.messages ? options.messages : toModel(settled.messages);
  return startLoop({
    ...options,
    ...composed,
    models,
    budget,
    spans,
    messages: await files.load(messages),
    chat: chat.messages,
    otherCallIds: options.otherCallIds,
    files,
    tools: stepTools,
    contextWindow: createRunContext(options, { spans, usage, budget, models, tools: stepTools, onRetry }),
    allTools: toolSet.tools,
    signal,
    usage,
    calls,
    steering,
    onPrompt,
    onRetry,
  });
}

/** What is read from the storage before the first step: decisions, the calls that were left without one, and metadata. */
async function restored(
  options: RunOptions,
): Promise<[readonly CallForApproval[], readonly UIMessage[], IssuedMetadata | undefined]> {
  const { stepTools } = options;
  const reading = [spendApprovals(options), endLeftCalls(options), issuedTo(options), stepTools.restore()] as const;
  const [spent, past, issued] = await Promise.all(reading).catch((error: unknown) => {
    throw toPinnaceError(error); // of the storage: no model was called yet
  });
  return [spent, past, issued];
}

/** The loop of a run whose calls wait for a person again: the model has nothing to answer to yet. */
function waitingLoop(): Loop {
  return { read: () => Promise.resolve({ end: { type: 'awaiting_approval', finishReason: 'tool-calls' } }) };
}

function filesOf(
  options: RunOptions,
  { push, scope }: { readonly push: (chunk: UIMessageChunk) => void; readonly scope: () => RunScope },
): RunFilesOptions {
  const { principal: owner, abort: { signal }, request: { chat }, content, resumed } = options;
  const readResource: RunFilesOptions['readResource'] = (resource) =>
    content.readInRun({ ...options, signal, scope: scope() }, resource);
  const from = resumed?.claim.state.parent?.subject;
  return { ...options, owner, from, signal, push, answered: chat.messages.at(-1), readResource };
}

/** The model of the run and its fallbacks, each with its secret redacted. */
function modelsOf(options: RunOptions, spans: LoopSpans): ModelChain {
  const { fallbacks, metrics, redaction, request: { budget } } = options;
  return createModelChain({
    first: options,
    fallbacks,
    metrics,
    clock: spans.clock,
    spanContext: () => spans.current,
    onResolved: ({ secret }) => secret && redaction.add(secret),
    cost: budget?.cost,
  });
}

/** Reads what the continued message needs to go back to the model. */
async function issuedTo(
  { continues, storage, principal, agent: { id: agentId }, request: { chat } }: RunOptions,
): Promise<IssuedMetadata | undefined> {
  if (continues === undefined) return undefined;
  return await readIssued(storage, { owner: principal, agentId, chatId: chat.id, runId: continues });
}

/** A run that settles calls of the chat's last message goes on with that message. */
function continuedMessage({ request: { chat }, runId }: RunOptions): string {
  const last = chat.messages.at(-1);
  return last && approvalsRequestedIn(last).length > 0 ? last.id : `msg_${runId.slice(4)}`;
}

/** Records the end. Its event is emitted when the record is committed, or is known not to be. */
function endRun(
  end: RunEnd,
  options: RunOptions,
  { live, spans, usage }: {
    readonly live: LiveRun;
    readonly spans: LoopSpans;
    readonly usage: Usage & ReportedUsage;
  },
): void {
  const facts = { status: statuses[end.type], error: 'error' in end ? end.error : null };
  spans.end(facts);
  countRun(options, end, usage);
  void live.end(end, {
    usage,
    onRecorded: (unrecorded) =>
      options.span.end(
        unrecorded
          ? { status: 'error', error: unrecorded, payload: { state: 'failed' } }
          : { ...facts, payload: { state: end.type } },
      ),
  });
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

/** The source of a run's chunks and their target. */
interface DriverOptions {
  /** The chunks before all others. */
  readonly opening: readonly UIMessageChunk[];
  /** The next chunks, none of them terminal, or the end. Is called again only after it has answered. */
  readonly read: () => Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
  /** The end for what `read` threw. */
  readonly failure: (error: unknown) => RunEnd;
  /** The chunks after all others, the last of them terminal. */
  readonly closing: (end: RunEnd) => readonly UIMessageChunk[];
  readonly record: (chunk: UIMessageChunk) => void;
  /** Called exactly once, after the closing chunks. */
  readonly onEnd: (end: RunEnd) => void;
}

/** A run that is executing. */
interface Driver {
  /** Reads until the end. Never throws. */
  start(): Promise<void>;
  /** Adds a chunk out of turn, as a tool's log line. Does nothing after the end. */
  push(chunk: UIMessageChunk): void;
  /** Ends the run now. Does nothing after the end. */
  end(end: RunEnd): void;
}

/** Creates the driver of a run. */
function createDriver({ opening, read, failure, closing, record, onEnd }: DriverOptions): Driver {
  let ended = false;
  const push = (chunk: UIMessageChunk): void => {
    if (!ended) record(chunk);
  };
  const end = (how: RunEnd): void => {
    if (ended) return;
    ended = true;
    for (const chunk of closing(how)) record(chunk);
    onEnd(how);
  };
  return {
    push,
    end,
    async start() {
      opening.forEach(push);
      try {
        while (!ended) {
          const next = await read();
          if ('end' in next) end(next.end);
          else next.chunks.forEach(push);
        }
      } catch (error) {
        end(failure(error));
      }
    },
  };
}
