/**
 * A run from its claim to its end. `start-run.ts` leads to the claim, `loop.ts` calls the model, `live-run.ts` records the stream.
 *
 * What must hold, and what breaks where an order changes:
 *
 * 1. The stream opens once and closes once, on every path: an answer, a throw, an abort, a limit. `#ended` is set before the closing
 *    chunks are recorded, so nothing that still works in the background comes after them.
 * 2. The signal is released after the closing chunks. Releasing aborts it, and tools that see the abort end their calls as cancelled:
 *    before, the closing chunks would show that instead of why the run ended.
 * 3. The log ends last, because it takes nothing after its end. The span ends when that end is committed, or is known not to be: the
 *    instance that has taken over a lost run emits its end, so each `run.start` has one `run.end`.
 * 4. A chunk is observed before redaction, recorded after it, and shown to the calls after that: a call may start once its record
 *    would come behind the chunk that announces it.
 * 5. Code of the agent runs before decisions of people are spent: it may fail, and a decision is spent once.
 * 6. A run does one of three things. With a `plan` it follows that and never calls the model. With `resumed` it goes on in the middle
 *    of an earlier run, whose prompt `toModel` builds; its `continues` is that run's. Otherwise it answers the chat, and with
 *    `continues` adds to the message of an earlier run: that run's metadata goes back to the model, and `toolChoice` was used by it.
 */

import { countExcluded, type ToolSet } from './tool-sets.ts';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { ownerAs, type Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { reportAt, reportedHook, reportHidden } from '../events/report.ts';
import type { Span, SpanEnd } from '../events/span.ts';
import type { GoesOn } from '../permission/waiting.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import { calledOfProvider } from '../tools/provider-tool.ts';
import { RunCalls } from '../tools/run-calls.ts';
import { quickHash } from '../base/hash.ts';
import { chatFactsOf, openFacts, SaidDigests } from './chat-facts.ts';
import { join, parseLabel, trusted, unlabelled } from '../permission/label.ts';
import { RunFacts } from '../permission/run-facts.ts';
import { composeLoop } from './compose-loop.ts';
import { createRunContextWindow } from './context-window.ts';
import { approvalsRequestedIn, endLeftCalls, settleDecided, spendApprovals } from './decided-calls.ts';
import type {
  CallForApproval,
  Resolution,
  ResumedRun,
  RunContext,
  RunIdentity,
  RunPrograms,
  RuntimeParts,
} from './run-context.ts';
import { issuedFrom, type IssuedMetadata, issuedOnly, issuedWithAnswers, readIssued } from './issued-metadata.ts';
import type { Limits } from './limits.ts';
import type { LiveRun } from './live-run.ts';
import { endOfAbort, failed, ModelLoop } from './loop.ts';
import { createRunFiles } from './run-files.ts';
import type { RunFiles } from './message-files.ts';
import { createCitations, programsIn } from './message-parts.ts';
import { programHostKey } from '../tools/run-scope.ts';
import type { ProgramHost } from '../tools/tool.ts';
import { createModelBudget, type ModelBudget } from './model-budget.ts';
import { createModelChain, type ModelChain } from './model-chain.ts';
import type { ModelRetry } from './model-error.ts';
import { modelMessages } from './model-messages.ts';
import {
  type ChatFacts,
  hasAnswer,
  lastRunIn,
  modelKey,
  type PromptBreak,
  PromptChain,
  promptKey,
  type PromptRecord,
  readPromptRecord,
  rememberPrompt,
} from './prompt-chain.ts';
import { type RunAbort, RunSpans } from './run-clock.ts';
import { type CacheUsage, callStart, closingChunks, type Loop, lossAt, type RunEnd, usageNote } from './run-record.ts';
import type { RunRequest } from './run-request.ts';
import { createSteering, type Steering } from './steering.ts';

/** Loaded where the composition has `keep: 'inputs'`. */
const loadBasis = /* @__PURE__ */ loadOnce(() => import('./run-basis.ts'));

/** What a run was claimed with. */
interface ClaimedRun {
  readonly resolution: Resolution;
  readonly live: LiveRun;
  /** The ids of calls of its stored chat, in messages that the run is without. */
  readonly otherCallIds?: readonly string[] | undefined;
  /** Whether the answers of its stored chat were stored before. */
  readonly isStored?: boolean | undefined;
}

/** A run that this instance executes. */
export class Run implements RunContext {
  readonly runtime: RuntimeParts;
  readonly runId: string;
  readonly traceId: string;
  readonly span: Span;
  readonly startedAt: number;
  readonly principal: Principal;
  readonly abort: RunAbort;
  readonly redaction: RunRedaction;
  readonly resolution: Resolution;
  readonly agent: Agent;
  readonly request: RunRequest;
  readonly limits: Limits;
  // What it lends to its calls.
  readonly storage: RunContext['storage'];
  readonly slots: RunContext['slots'];
  readonly interruptions: RunContext['interruptions'];
  readonly authorize: RunContext['authorize'];
  readonly resolveSecret: RunContext['resolveSecret'];
  readonly recorder: RunContext['recorder'];
  readonly metrics: RunContext['metrics'];
  readonly digests: RunContext['digests'];
  readonly report: RunContext['report'];
  readonly now: () => number;
  // What it works with.
  readonly usage: RunContext['usage'] = {
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    steps: 0,
    toolCalls: 0,
    toolTokens: 0,
    toolTokensSaved: 0,
  };
  readonly spans: RunSpans;
  readonly budget: ModelBudget;
  readonly calls: RunCalls;
  readonly files: RunFiles;
  readonly steering: Steering;
  /** What it has read. Until the record of its chat is there, anybody may have said anything. */
  facts: RunFacts = new RunFacts({ read: unlabelled });
  readonly #live: LiveRun;
  readonly #otherCallIds: readonly string[];
  /** Whether the answers of the chat come from the storage. */
  readonly #isStored: boolean;
  /** What a chat that its client keeps has in its answer. */
  readonly #said: SaidDigests | undefined;
  #knownFacts: ChatFacts | undefined;
  #loop: Loop | undefined;
  #chain: PromptChain | undefined;
  #prompts: PromptRecord | undefined;
  /** What the function of the agent has made. */
  #instructions: PromptRecord['instructions'];
  readonly #breaks: CacheUsage['breaks'][number][] = [];
  #ended = false;

  constructor(identity: RunIdentity, { resolution, live, otherCallIds = [], isStored = true }: ClaimedRun) {
    const { runtime, runId, traceId, span, principal } = identity;
    const { agent, request } = resolution;
    this.runtime = runtime;
    this.runId = runId;
    this.traceId = traceId;
    this.span = span;
    this.startedAt = identity.startedAt;
    this.principal = principal;
    this.abort = identity.abort;
    this.redaction = identity.redaction;
    this.resolution = resolution;
    this.agent = agent;
    this.request = request;
    this.limits = resolution.limits;
    this.storage = runtime.storage;
    this.slots = runtime.slots;
    this.interruptions = runtime.interruptions;
    this.resolveSecret = runtime.resolver.secret;
    this.recorder = runtime.recorder;
    this.metrics = runtime.metrics;
    this.digests = runtime.digests;
    this.report = reportAt(runtime.report, { runId, traceId });
    this.authorize = reportedHook(runtime.authorize, this.report, 'authorize');
    this.now = runtime.now;
    this.#live = live;
    this.#otherCallIds = otherCallIds;
    const { resumed } = resolution;
    const isStoredChat = request.chat.store === true;
    this.#isStored = (isStoredChat && isStored) || resumed?.claim !== undefined;
    const isRead = !isStoredChat && !resolution.plan; // of a plan's answer nothing is recorded
    this.#said = isRead ? new SaidDigests(resumed ? request.chat.messages : []) : undefined;
    Object.assign(this.usage, resolution.resumed?.recovered?.usage);
    this.spans = new RunSpans(this);
    this.budget = this.#openBudget();
    this.calls = new RunCalls(this, {
      record: (call) => live.commit([callStart(runId, call, runtime.ttlMs)]),
      usage: this.usage,
      budget: this.budget,
      spans: this.spans,
      find: (name) => {
        const tools = this.resolution.stepTools.current();
        return tools.find(({ definition }) => definition.name === name) ?? calledOfProvider(tools, name);
      },
      push: this.push,
      settled: (outcome) => this.files.settled(outcome),
      citeOf: createCitations(request.chat.messages, this.push),
    });
    this.files = this.#openFiles();
    this.steering = createSteering(live.inbox, this);
  }

  /** Executes the run to its end, into its record. Never throws, and returns at once. */
  execute(): void {
    const { plan } = this.resolution;
    // A plan has a deadline of its own, which may be longer.
    this.abort.whenAborted(plan ? Infinity : this.limits.totalMs, () => {
      const end = (): void => this.#end(endOfAbort(this.abort.signal));
      if (plan) void plan.abandon(this.abort.signal.reason).then(end);
      else end();
    });
    void this.#work();
  }

  /** Chats of the server go on by the server: with the rights and the settings of this request. */
  get goesOn(): GoesOn | undefined {
    const { chat, context: _, planner: __, ...request } = this.request;
    if (!chat.store) return undefined;
    return { chatId: chat.id, owner: ownerAs(this.principal), request };
  }

  readonly push = (chunk: UIMessageChunk): void => {
    if (!this.#ended) this.#record(chunk);
  };

  async #work(): Promise<void> {
    const { resumed, toolSet, contexts } = this.resolution;
    const { runId, traceId } = this;
    const opening = resumed?.opening ??
      [...openingChunks({ runId, traceId, messageId: this.#messageId() }, toolSet), ...contexts];
    opening.forEach(this.push);
    try {
      while (!this.#ended) {
        const gate = this.#loop && this.runtime.startGate.pass(); // its own start does not wait
        if (gate) await gate;
        const next = await (this.#loop ??= await this.#openLoop()).read();
        if ('end' in next) this.#end(next.end);
        else next.chunks.forEach(this.push);
      }
    } catch (error) {
      if (this.abort.signal.aborted) return this.#end(endOfAbort(this.abort.signal));
      reportHidden(this.report, error, { kind: 'run', step: this.spans.step });
      this.#end(failed(error));
    }
  }

  /** A run that settles calls of the chat's last message goes on with that message. */
  #messageId(): string {
    const last = this.request.chat.messages.at(-1);
    return last && approvalsRequestedIn(last).length > 0 ? last.id : answerIdOf(this.runId);
  }

  #record(chunk: UIMessageChunk): void {
    if (chunk.type === 'start-step' && this.usage.steps > 0 && this.runtime.recovery) {
      this.#live.note(usageNote(this.runId, this.usage, this.runtime.ttlMs));
    }
    this.calls.observe(chunk);
    for (const safe of this.redaction.chunks(chunk)) {
      this.#live.record(safe);
      this.#said?.add(safe);
    }
    this.calls.shown(chunk);
  }

  /** Opens the loop, after the calls that a person has decided on since. A run with a plan follows that instead. */
  async #openLoop(): Promise<Loop> {
    const { abort: { signal }, request: { chat }, resolution, usage, traceId, calls, push } = this;
    const { plan, resumed } = resolution;
    if (plan) return plan.follow({ signal, traceId, usage });
    const record = await resolution.prompts.catch(() => undefined); // as if it had expired: the run can do without
    this.#prompts = record;
    const before = resumed && await this.#promptsBefore(resumed);
    const known = this.#knownFacts = this.#factsBefore(record, before);
    this.facts = await openFacts(resolution, { known, isStored: this.#isStored, onGrown: this.#noteFacts });
    // Recorded also where it has read nothing, as a guarded one: an instance that goes on must know.
    if (this.agent.trust === 'guarded') this.facts.record();
    const { agent, output, isEnough } = await this.#compose(record);
    const recovered = resumed?.recovered;
    const [spent, past, issued] = await this.#restore(record);
    const decided = [...recovered?.waiting ? [] : spent, ...await this.#resumedPrograms(), ...recovered?.calls ?? []];
    const settled = await settleDecided(past, { decided, calls, push, signal, traceId });
    // The lost run has not ended the step of its programs and calls.
    if (resumed?.programs.length || recovered?.isTorn) push({ type: 'finish-step' });
    if (settled.waiting + (recovered?.waiting ?? 0) > 0) return waitingLoop;
    if (recovered?.isComplete && this.#live.inbox.isEmpty) return completeLoop;
    const models = this.#openModels();
    const isLost = !record && !resumed && hasAnswer(chat.messages);
    const chain = this.#chain = new PromptChain(record, {
      isStored: chat.store === true,
      isLost,
      forked: resumed?.claim ? before : undefined,
    });
    const onRetry = (retry: ModelRetry): void => push(retryChunk(retry, this.now()));
    const messages = resumed && settled.messages !== chat.messages
      ? resumed.toModel(settled.messages, settled.answered)
      : resumed || (settled.messages === chat.messages && !issued)
      ? resolution.messages
      : modelMessages(
        { ...this.request, chat: { ...chat, messages: [...settled.messages] } },
        resolution.contexts,
        issuedWithAnswers(issued, settled.answered),
      );
    const by = { messageId: this.#messageId(), agentId: agent.id, model: modelKey(models.current) };
    for (const one of settled.answered) chain.answered(one, by);
    return new ModelLoop(this, {
      agent,
      output,
      isEnough,
      models,
      messageId: this.#messageId(),
      chain,
      approved: new Set(settled.answered.flatMap(({ toolCallId, approved }) => approved ? [toolCallId] : [])),
      onBreak: this.#onBreak,
      messages: await this.files.load(messages),
      otherCallIds: this.#otherCallIds,
      contextWindow: createRunContextWindow(this, { models, chain, messageId: this.#messageId(), onRetry }),
      onPrompt: this.runtime.keep === 'inputs' ? (await loadBasis()).keepPrompts(this, this.#live) : undefined,
      onRetry,
    });
  }

  /** The instructions of a function are those of the chat, as long as the agent's record is the same. */
  async #compose(record: PromptRecord | undefined): ReturnType<typeof composeLoop> {
    const { resolution, agent, redaction } = this;
    const { instructions, refresh } = resolution.code;
    if (!instructions) return await composeLoop(resolution, this);
    const of = quickHash(agent);
    const before = record?.instructions?.of === of ? record.instructions : undefined;
    const known = refresh === 'turn' ? undefined : before?.text;
    const composed = await composeLoop(resolution, this, known);
    const text = known ?? composed.made ?? '';
    if (redaction.text(text) !== text) return composed;
    const changes = before && before.text !== text ? (before.changes ?? 0) + 1 : 0;
    if (before && changes === 2) {
      const error = unstableInstructions(agent.id, changedPart(before.text, text));
      this.report(error, { kind: 'hook', id: 'instructions' });
    }
    this.#instructions = { text, of, ...(changes > 0 && { changes }) };
    return composed;
  }

  readonly #onBreak = ({ reason, ...facts }: PromptBreak, { id }: { readonly id: string }): void => {
    const { spans, metrics, agent } = this;
    const target = { type: 'model', id } as const;
    if (!reason) {
      return spans.current.emit({ action: 'prompt.unexpected', target, status: 'ok', payload: { ...facts } });
    }
    metrics.count('pinnace_prompt_breaks_total', { agent: agent.id, reason });
    this.#breaks.push({ step: spans.step, reason, lostTokens: facts.lostTokens });
    spans.current.emit({ action: 'prompt.break', target, status: 'ok', payload: { reason, ...facts } });
  };

  /** What caches may have had of the prompts; `undefined` where no prompt was a second one. */
  #cacheUsage(): CacheUsage | undefined {
    const cacheableTokens = this.#chain?.cacheableTokens ?? 0;
    return cacheableTokens > 0 || this.#breaks.length > 0 ? { cacheableTokens, breaks: this.#breaks } : undefined;
  }

  /** What is recorded of the chat that a fork goes on from. A run that goes on was begun without its answer, which its record is about. */
  async #promptsBefore({ claim }: ResumedRun): Promise<PromptRecord | undefined> {
    const { request, principal: { tenant, subject }, runtime: { storage } } = this;
    const { chatId, subject: owner = subject } = claim?.state.parent ?? { chatId: request.chat.id };
    const key = promptKey({ tenant, subject: owner }, chatId);
    return await readPromptRecord(storage, key).catch(() => undefined); // then anybody has said it
  }

  /** What the record says; of a fork, that of the chat which it goes on from. */
  #factsBefore(record: PromptRecord | undefined, before: PromptRecord | undefined): ChatFacts | undefined {
    const { resolution: { resumed }, request: { chat } } = this;
    const facts = resumed ? before?.facts : record?.facts;
    const parent = resumed?.claim?.state.parent;
    if (!facts || !parent) return facts;
    const last = chat.messages.filter(({ id }) => id !== resumed.answerId).at(-1);
    const answerId = last?.role === 'assistant' ? last.id : answerIdOf(parent.runId);
    // A later run of that chat may have been sent less.
    const messages = facts.messages.includes(answerId) ? [...facts.messages, resumed.answerId] : facts.messages;
    return { read: join(parseLabel(facts.read), resumed.isEdited ? unlabelled : trusted), calls: [], messages };
  }

  /** Commits what the run has read with the next chunk, which nobody receives before that. */
  readonly #noteFacts = (facts: RunFacts = this.facts): void => {
    const { runtime: { now }, agent: { id: agentId } } = this;
    const record = this.#prompts ?? { v: 1, runId: '', agentId, at: now(), chains: [] };
    this.#notePromptRecord(record, facts);
  };

  #notePromptRecord(record: PromptRecord, of: RunFacts): void {
    const { runtime: { recentPrompts: recent, ttlMs, limits }, principal, request: { chat } } = this;
    const digests = this.#said?.after(this.#knownFacts) ?? [];
    const facts = chatFactsOf(of, { messages: chat.messages, digests }, this.#messageId());
    const { key, value } = rememberPrompt({ recent, principal, chatId: chat.id }, { ...record, facts });
    // Without it a stored chat would be anybody's.
    const keepMs = chat.store === true ? Math.max(ttlMs, limits.chatRetentionMs) : ttlMs;
    this.#live.note({ key, value, ...(keepMs !== Infinity && { ttlMs: keepMs }) });
  }

  /** Notes what the models of the chat were sent, for the commit of the end. */
  #notePrompt(): void {
    const { runId, agent, request: { chat } } = this;
    const isThere = new Set([...chat.messages.map(({ id }) => id), this.#messageId()]);
    const instructions = this.#instructions;
    const facts = { runId, agentId: agent.id, at: this.now(), ...(instructions && { instructions }) };
    const record = this.#chain?.record(facts, (id) => isThere.has(id));
    if (!record) {
      if (this.#loop && !this.resolution.plan) this.#noteFacts(); // it has called no model, and added to the answer
      return;
    }
    const redacted = record.issued ? { ...record, issued: this.redaction.data(record.issued) } : record; // the rest has no text of a run
    this.#notePromptRecord(redacted, this.facts);
  }

  /** Reads what the first step needs of the storage: decisions, the calls that were left without one, and metadata. */
  async #restore(
    record: PromptRecord | undefined,
  ): Promise<[readonly CallForApproval[], readonly UIMessage[], IssuedMetadata | undefined]> {
    const { runId, agent, principal, request, interruptions, facts, resolution: { toolSet } } = this;
    const run = { runId, agent, principal, request, interruptions, facts, toolSet };
    const reading = [spendApprovals(run), endLeftCalls(run), this.#readIssued(record)] as const;
    const [spent, past, issued] = await Promise.all(reading).catch((error: unknown) => {
      throw toPinnaceError(error); // of the storage: no model was called yet
    });
    return [spent, past, issued];
  }

  /**
   * Returns the calls of `code_run` that go on with earlier programs. The code of programs is loaded with the first one that runs, for
   * most runs have none.
   */
  async #resumedPrograms(): Promise<readonly CallForApproval[]> {
    const { runtime: { sandbox, programs }, request: { chat }, resolution: { resumed }, calls } = this;
    if (!sandbox || !('open' in sandbox)) return [];
    let opened: RunPrograms | undefined;
    const open = async (): Promise<RunPrograms> => {
      const { openPrograms } = await programs();
      return opened ??= openPrograms({ run: this, sandbox });
    };
    const host: ProgramHost = {
      run: async (program, context) => await (await open()).run(program, context),
      close: () => Promise.resolve(),
    };
    calls.scope.keep(programHostKey, () => host);
    if (!resumed?.programs.length && !programsIn(chat.messages.at(-1)).isWaiting) return [];
    return await (await open()).resumed();
  }

  /**
   * Returns what the answers of the chat need to go back to the model: by the record of the chat, and where that is not of the last run,
   * by the log of that run.
   */
  async #readIssued(record: PromptRecord | undefined): Promise<IssuedMetadata | undefined> {
    const { storage, principal: owner, agent: { id: agentId }, request: { chat }, resolution } = this;
    const answer = chat.messages.findLast(({ role }) => role === 'assistant');
    const runId = resolution.continues ?? lastRunIn(chat.messages);
    const isKnown = runId === record?.runId || typeof runId !== 'string' || !answer || resolution.resumed;
    const others = isKnown
      ? undefined
      : issuedOnly(answer.id, await readIssued(storage, { owner, agentId, chatId: chat.id, runId }));
    return issuedFrom(record?.issued ?? [], { agentId, model: modelKey(resolution) }, others);
  }

  #openBudget(): ModelBudget {
    const { runtime: { budgets }, principal: { tenant, subject }, agent: { id: agentId } } = this;
    const spender = { tenant, subject, agentId };
    return createModelBudget(
      this.request.budget ?? {},
      this.usage,
      budgets && ((need) => budgets.hold(spender, need)),
    );
  }

  #openFiles(): RunFiles {
    const { runtime: { blobs, egress, budgets, content }, agent, principal, redaction, abort: { signal }, calls } =
      this;
    return createRunFiles({
      blobs,
      egress,
      budgets,
      owner: principal,
      from: this.resolution.resumed?.claim?.state.parent?.subject,
      signal,
      limits: this.limits,
      span: this.span,
      push: this.push,
      answered: this.request.chat.messages.at(-1),
      isPaid: this.request.chat.store === true,
      readResource: (resource) =>
        content.readInRun({ agent, principal, redaction, signal, scope: calls.scope }, resource),
    });
  }

  /** The model of the run and its fallbacks, each with its secret redacted. */
  #openModels(): ModelChain {
    const { resolution, metrics, redaction, spans } = this;
    return createModelChain({
      first: resolution,
      fallbacks: resolution.fallbacks,
      metrics,
      clock: spans.clock,
      spanContext: () => spans.current,
      onResolved: ({ secret }) => secret && redaction.add(secret),
      cost: this.request.budget?.cost,
    });
  }

  #end(how: RunEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    const { runId, traceId, usage: counted, calls, steering, redaction } = this;
    // In an open agent it has no consequence.
    const isTold = this.#loop && !this.resolution.plan && (this.agent.trust ?? 'open') !== 'open';
    const read = isTold ? this.facts.read.from : [];
    const cache = this.#cacheUsage();
    const usage = { ...counted, durationMs: this.now() - this.startedAt, ...(cache && { cache }) };
    const closing = [
      ...redaction.flush(),
      ...calls.closing(lossAt(how)),
      ...steering.close(),
      ...closingChunks(how, { runId, traceId, usage, read }),
    ];
    for (const chunk of closing.slice(0, -1)) this.#record(chunk);
    this.#notePrompt(); // with all that the answer says
    for (const chunk of closing.slice(-1)) this.#record(chunk);
    this.abort.release();
    this.budget.close();
    void calls.close();
    this.#recordEnd(redaction.data(how), usage);
  }

  /** Records the end. Its event is emitted when the record is committed, or is known not to be. */
  #recordEnd(end: RunEnd, usage: Parameters<LiveRun['end']>[1]['usage']): void {
    const facts = { status: statuses[end.type], error: 'error' in end ? end.error : null };
    this.spans.end(facts);
    if (!this.#live.takenOver) this.#count(end);
    void this.#live.end(end, {
      usage,
      onRecorded: (unrecorded) =>
        this.span.end(
          unrecorded
            ? { status: 'error', error: unrecorded, payload: { state: 'failed' } }
            : { ...facts, payload: { state: end.type } },
        ),
    });
  }

  #count(end: RunEnd): void {
    const { metrics, request: { budget } } = this;
    metrics.count('pinnace_runs_total', { state: end.type });
    if (budget?.tokens === undefined) return;
    metrics.count('pinnace_budget_tokens_total', { of: 'run', kind: 'granted' }, budget.tokens);
    metrics.count('pinnace_budget_tokens_total', { of: 'run', kind: 'used' }, this.usage.totalTokens);
  }
}

/** The message that a run makes. */
function answerIdOf(runId: string): string {
  return `msg_${runId.slice(4)}`;
}

/** Said once, where a function returns another text in a second turn in a row. */
function unstableInstructions(agentId: string, part: string): PinnaceError {
  const advice = 'keep what changes in "facts" and "context", so that prompts stay in the cache of the provider';
  return new PinnaceError(
    'invalid_argument',
    `The instructions of agent "${agentId}" change in every turn, from ${JSON.stringify(part)} on: ${advice}`,
    { details: { reason: 'unstable_instructions', agentId } },
  );
}

/** The first characters that differ. */
function changedPart(before: string, text: string): string {
  let at = 0;
  while (at < text.length && text[at] === before[at]) at++;
  return text.slice(at, at + 40).toWellFormed();
}

/** The loop of a run whose calls wait for a person again: the model has nothing to answer to yet. */
const waitingLoop: Loop = {
  read: () => Promise.resolve({ end: { type: 'awaiting_approval', finishReason: 'tool-calls' } }),
};

/** The loop of a run whose answer was recorded, and whose end was not. */
const completeLoop: Loop = {
  read: () => Promise.resolve({ end: { type: 'completed', finishReason: 'stop' } }),
};

const statuses: Record<RunEnd['type'], SpanEnd['status']> = {
  completed: 'ok',
  awaiting_approval: 'ok',
  suspended: 'ok',
  stopped: 'error',
  cancelled: 'cancelled',
  failed: 'error',
  interrupted: 'error',
};

/** So many names of tools a stream has: each run records them, and an agent may have thousands. */
const mostNames = 64;

/** The chunks before all others. */
export function openingChunks(
  { runId, traceId, messageId }: { readonly runId: string; readonly traceId: string; readonly messageId: string },
  toolSet: ToolSet,
): readonly UIMessageChunk[] {
  const { digest, tools } = toolSet;
  const included = tools.slice(0, mostNames).map(({ definition }) => definition.name);
  const more = tools.length - included.length;
  return [
    { type: 'start', messageId },
    { type: 'data-run', id: runId, data: { runId, traceId, state: 'running' } },
    {
      type: 'data-manifest',
      data: { digest, included, ...(more > 0 && { more }), excluded: countExcluded(toolSet) },
    },
  ];
}

/** The chunk before a model call that is tried again. Stored messages do not have it. */
function retryChunk(retry: ModelRetry, now: number): UIMessageChunk {
  return { type: 'data-retry', data: { ...retry, retryAt: now + retry.delayMs }, transient: true };
}
