/**
 * Takes back what a run has done, newest first.
 *
 * What must hold:
 *
 * 1. An undo is at most once by construction: `['run', id, 'undo', toolCallId]` is written with `ifVersion: null` before the tool's undo
 *    runs, and what has such a record is never begun again. An instance that is lost in between leaves `claimed`, which reads as unknown.
 * 2. Nothing is taken back that the person has not seen: the digest of the preview is compared with that of now.
 * 3. It stops at the first failure. The report names what remains, whatever happened.
 * 4. Permission, secrets, egress, limits, audit and redaction are those of a call (`tool-call.ts`), by the action `tool.undo`. What is
 *    refused there has no record, and may be tried again.
 * 5. The chat says what was taken back, once, so that its model and its reader agree.
 * 6. Where `authorize` asks for a person, the undo is an item of the inbox, bound to its preview. Approving it is due work: it is done for
 *    who has asked, with the rights of then. What a lost instance has begun of it ends the undo; what it has not begun is taken back.
 */

import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import { sha256, sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import { createPrincipal, ownerAs, type Principal } from '../base/principal.ts';
import { visible } from '../base/text.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import { reportAt, reportedHook } from '../events/report.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { dueKey } from '../log/due.ts';
import { type ApprovalTerms, askSame } from '../permission/authorize.ts';
import type { Guard } from '../permission/guarded.ts';
import { askedBy, type Interruption, readQuestion } from '../permission/interruption.ts';
import { asksPrefix } from '../permission/waiting.ts';
import { createRunRedaction, redactedEmit } from '../permission/redaction/run-redaction.ts';
import { lifetime, maxTries, messagesPrefix, readChat, takeRecent } from '../runtime/chat-record.ts';
import { minLimits } from '../runtime/limits.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { ownerOfRun, runPrefix, type RunState } from '../runtime/run-record.ts';
import { recordChanges } from '../runtime/start-in-chat.ts';
import type { RunUndo, UndoCall, UndoPreview, UndoReport, UndoTerms } from '../runtime/undo-types.ts';
import { mayAct } from '../tools/call-ends.ts';
import { previewCall, type ShownPreview } from '../tools/call-preview.ts';
import { codeRunId, unboundDelegation } from '../tools/run-scope.ts';
import { type CallHost, ToolCall } from '../tools/tool-call.ts';
import type { Tool, ToolUndo } from '../tools/tool.ts';
import { type ActedCall, actedCalls } from './acted-calls.ts';

interface Access {
  readonly guard: Guard;
}

/** Creates the methods. */
export function createUndo(parts: RuntimeParts, access: Access): RunUndo {
  return {
    preview: async (runId, terms, principal) =>
      (await Undoing.open(parts, { runId, terms, principal, scope: 'run:read' })).preview,
    async run(runId, { digest, ...terms }, principal, { signal } = {}) {
      const undoing = await Undoing.open(parts, { runId, terms, principal, scope: 'run:create' });
      undoing.requireSame(digest);
      return await confirm(undoing, access, { signal });
    },
  };
}

/** Takes back what was confirmed, or what of it no other person must approve: the rest waits in the inbox. */
async function confirm(
  undoing: Undoing,
  { guard }: Access,
  bounds: { readonly signal?: AbortSignal | undefined; readonly startUntil?: number },
): Promise<UndoReport> {
  const { principal, approval, state: { agentId, traceId }, preview: { runId } } = undoing;
  const facts = { action: 'run.undo', target: { type: 'run', id: runId } };
  const { subject } = ownerOfRun(undoing.state);
  const effect = { ...facts, subject, principal, trace: { traceId }, context: { agentId }, approved: approval };
  try {
    const report = await guard({ ...effect, attempt: 'Cannot take back the run' }, async (at) => {
      const done = await undoing.takeBack(bounds);
      const { takenBack, remains, failed } = done;
      const payload = { takenBack: takenBack.length, remains: remains.length };
      at.emit({ ...facts, status: failed ? 'error' : 'ok', ...(failed && { error: failed.error }), payload });
      return done;
    });
    return undoing.waits ? { ...report, approvalId: await (await undoing.reopened()).ask(undoing.waits) } : report;
  } catch (thrown) {
    const { code, details } = toData(thrown);
    if (code !== 'approval_required') throw thrown;
    return { ...undoing.report([]), isStored: false, approvalId: await undoing.ask(termsIn(details)) };
  }
}

/** Who must approve, by the error that says so. */
function termsIn(details: ErrorData['details']): ApprovalTerms {
  return { ...details }; // as `refusal` in `src/permission` writes them
}

/** An instance that carries out an approved undo starts no call after this time, and is taken for lost after the other. */
const startMs = 300_000;
const leaseMs = 600_000;

/** Checks that an approval still means what was asked for. @throws PinnaceError `conflict`. */
export async function checkUndo(parts: RuntimeParts, record: Interruption): Promise<void> {
  await openApproved(parts, record);
}

async function openApproved(parts: RuntimeParts, record: Interruption): Promise<Undoing> {
  const { runId, undo, binding } = record;
  if (!undo) throw refused('not_found', 'its question does not say what', 'approval_not_found');
  const { owner, toStep } = undo;
  const opening = { runId, terms: { toStep }, principal: createPrincipal(owner), scope: 'run:create' } as const;
  const undoing = await Undoing.open(parts, { ...opening, approval: record });
  undoing.requireSame(binding);
  return undoing;
}

/**
 * Takes back what a person has approved. One instance does it, and another one what is left if that is lost. Resolves to `undefined`
 * where there is nothing to do here.
 */
export async function carryOutUndo(
  parts: RuntimeParts,
  access: Access,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<UndoReport | undefined> {
  const { storage, now, ttlMs } = parts;
  const record = await readQuestion(storage, id);
  const settle = async (): Promise<undefined> => void await storage.commit([{ key: dueKey(at, id) }]);
  if (!record || record.state !== 'approved') return await settle();
  const key: Key = [...runPrefix(record.runId), 'undo-lease', id];
  const entry = await storage.get(key);
  const startedAt = now();
  if (entry && (entry.value as { readonly until: number }).until > startedAt) return undefined; // written below
  const lease = { key, value: { until: startedAt + leaseMs }, ifVersion: entry?.version ?? null, ttlMs };
  if (!(await storage.commit([lease])).ok) return undefined;
  try {
    const report = await confirm(await openApproved(parts, record), access, { startUntil: startedAt + startMs });
    await settle();
    return report;
  } catch (thrown) {
    if (!toData(thrown).retryable) await settle();
    throw thrown;
  }
}

/** What is recorded of an undo. */
interface UndoRecord {
  readonly state: 'claimed' | 'done' | 'failed' | 'unknown';
  readonly at: number;
  /** The approval that it belongs to, and what the person was shown. */
  readonly by?: string;
  readonly seen?: string;
  readonly quote?: string;
}

/** A call, how it is taken back, and what the person is shown of it. */
interface Planned {
  readonly call: ActedCall;
  readonly tool: Tool | undefined;
  readonly shown: UndoCall;
  /** Of what `describe` returned. */
  readonly seen: string | undefined;
  readonly record: UndoRecord | undefined;
}

interface Opening {
  readonly runId: string;
  readonly terms: UndoTerms;
  readonly principal: Principal;
  readonly scope: 'run:read' | 'run:create';
  /** What a person has approved. */
  readonly approval?: Interruption | undefined;
}

/** One look at what a run has done, and the taking back of it. */
class Undoing {
  readonly state: RunState;
  readonly preview: UndoPreview;
  readonly principal: Principal;
  readonly approval: Interruption | undefined;
  /** Who must approve the call at which it has stopped. */
  waits: ApprovalTerms | undefined;
  readonly #parts: RuntimeParts;
  readonly #planned: readonly Planned[];
  readonly #redaction = createRunRedaction();

  private constructor(
    parts: RuntimeParts,
    { principal, approval, state, planned, preview }: Pick<Opening, 'principal' | 'approval'> & {
      readonly state: RunState;
      readonly planned: readonly Planned[];
      readonly preview: UndoPreview;
    },
  ) {
    this.#parts = parts;
    this.principal = principal;
    this.approval = approval;
    this.state = state;
    this.#planned = planned;
    this.preview = preview;
  }

  static async open(parts: RuntimeParts, { runId, terms, principal, scope, approval }: Opening): Promise<Undoing> {
    parts.requireOpen();
    const { toStep = 0 } = terms;
    const state = await parts.runs.state(principal, runId, scope);
    const calls = await actedCalls(parts, { runId, state }, principal);
    const tools = new Map<string, Promise<readonly Tool[]>>();
    const planned: Planned[] = [];
    for (const call of calls.filter(({ step }) => step > toStep)) {
      const known = tools.get(call.agentId) ?? toolsOfAgent(parts, call.agentId, principal);
      tools.set(call.agentId, known);
      const tool = (await known).find(({ definition: { id, name } }) => id === call.tool || name === call.tool);
      planned.push(await plan(parts, { call, tool, principal }));
    }
    const shown = planned.map((one) => one.shown);
    const bound = planned.map(({ call: { toolCallId, tool }, shown: { can }, seen, record }) =>
      // What the approved undo has begun is what was approved.
      approval && record?.by === approval.id
        ? [toolCallId, tool, 'yes', record.seen ?? null]
        : [toolCallId, tool, can, seen ?? null]
    );
    const digest = await sha256(canonicalJson([runId, toStep, bound]));
    const preview = { runId, toStep, digest, calls: shown };
    return new Undoing(parts, { principal, approval, state, planned, preview });
  }

  /** Looks again, at what is left. */
  reopened(): Promise<Undoing> {
    const { runId, toStep } = this.preview;
    return Undoing.open(this.#parts, { runId, terms: { toStep }, principal: this.principal, scope: 'run:create' });
  }

  /** @throws PinnaceError `conflict`: `run_running`, `preview_changed`. */
  requireSame(digest: string): void {
    if (this.state.state === 'running') throw refused('conflict', 'it is still running; stop it first', 'run_running');
    if (digest === this.preview.digest) return;
    throw refused('conflict', 'what would be taken back has changed; look at it again', 'preview_changed');
  }

  async takeBack(
    { signal = new AbortController().signal, startUntil = Infinity }: {
      readonly signal?: AbortSignal | undefined;
      readonly startUntil?: number;
    },
  ): Promise<UndoReport> {
    const done: Planned[] = [];
    let failed: UndoReport['failed'];
    for (const one of this.#planned) {
      const { record, shown: { can }, call: { toolCallId } } = one;
      const isBegun = this.approval !== undefined && record?.by === this.approval.id;
      if (failed || !(isBegun || can === 'yes')) continue;
      const isOver = signal.aborted || this.#parts.now() > startUntil;
      const error = isBegun
        ? endOf(record)
        : isOver
        ? toData(refused('cancelled', 'the caller has gone', 'cancelled'))
        : await this.#undo(one, signal);
      if (error) failed = { toolCallId, error };
      else done.push(one);
    }
    const report = this.report(done.map(({ shown }) => shown));
    const { takenBack, remains } = report;
    const message = takenBack.length > 0 ? messageOf(this.preview, takenBack, remains) : undefined;
    const isStored = message !== undefined && await this.#tellChat(message).catch(() => false);
    return { ...report, ...(failed && { failed }), ...(message && { message }), isStored };
  }

  /** What was taken back, and what remains. */
  report(takenBack: readonly UndoCall[]): Pick<UndoReport, 'runId' | 'takenBack' | 'remains'> {
    const { runId, calls } = this.preview;
    return { runId, takenBack, remains: calls.filter((call) => call.can !== 'nothing' && !takenBack.includes(call)) };
  }

  /** Asks a person to approve it. Returns the item of the inbox: the same one while it waits. */
  async ask({ approvers, fourEyes, withinMs }: ApprovalTerms): Promise<string> {
    const { storage, interruptions } = this.#parts;
    const { preview: { runId, toStep, digest: binding, calls }, principal, state: { agentId, chatId } } = this;
    const { tenant, subject } = principal;
    for (const { key } of await storage.list({ prefix: asksPrefix(runId), limit: 1000 })) {
      const record = await readQuestion(storage, String(key.at(-1)));
      if (record?.state === 'pending' && record.binding === binding && record.subject === subject) return record.id;
    }
    const asked = calls.filter(({ can }) => can === 'yes');
    const { id } = await interruptions.open({
      kind: 'undo',
      runId,
      tenant,
      subject,
      ...askedBy(principal, { approvers, fourEyes, withinMs }),
      agentId,
      chatId,
      binding,
      undo: { owner: ownerAs(principal), toStep },
      facts: {
        title: asked.length === 1 ? 'Take back 1 call' : `Take back ${asked.length} calls`,
        quote: linesOf(asked).slice(0, 200),
        calls: asked.slice(0, mostShown),
        remains: calls.filter(({ can }) => can === 'no').slice(0, mostShown),
      },
    });
    const target = { type: 'run', id: runId };
    const payload = { runId, approvalId: id, kind: 'undo' };
    this.#spanContext().emit({ action: 'interruption.request', target, status: 'ok', payload });
    return id;
  }

  /** Takes one call back. Returns the error of one that was not, or is not known to be. */
  async #undo({ call, tool, shown, seen }: Planned, signal: AbortSignal): Promise<ErrorData | undefined> {
    const { storage, now, ttlMs } = this.#parts;
    const by = this.approval && { by: this.approval.id };
    const { quote } = shown;
    const facts = { ...by, ...(seen !== undefined && { seen }), ...(quote !== undefined && { quote }) };
    const write = async (state: UndoRecord['state'], ifVersion?: null): Promise<boolean> => {
      const value: UndoRecord = { ...facts, state, at: now() };
      return (await storage.commit([{ key: call.undoKey, value, ttlMs, ...(ifVersion === null && { ifVersion }) }])).ok;
    };
    let isClaimed = false;
    const undo = tool?.undo;
    if (!tool || !undo) return toData(refused('not_found', `tool "${shown.tool}" is gone`, 'no_tool'));
    const undoing: Tool = {
      ...tool,
      definition: withoutApproval(tool.definition),
      execute: async (input, context) => {
        if (!await write('claimed', null)) throw refused('conflict', 'it was begun before', 'undo_begun');
        isClaimed = true;
        return await undo.execute(input, call.output, context) ?? null;
      },
    };
    let outcome = await this.#make(undoing, call, { signal });
    if (!outcome.ok && !isClaimed && outcome.error.code === 'approval_required') {
      const terms = termsIn(outcome.error.details);
      if (this.approval && askSame(terms, this.approval)) {
        outcome = await this.#make(undoing, call, { signal, approved: true });
      } else this.waits = terms;
    }
    if (!isClaimed) return outcome.ok ? undefined : outcome.error;
    const isUnknown = !outcome.ok && outcome.error.code === 'outcome_unknown';
    try {
      await write(outcome.ok ? 'done' : isUnknown ? 'unknown' : 'failed');
    } catch (thrown) {
      return toData(thrown); // the record stays `claimed`: who reads it knows no better
    }
    return outcome.ok ? undefined : outcome.error;
  }

  async #make(
    tool: Tool,
    { agentId, input, toolCallId }: ActedCall,
    { signal, approved = false }: { readonly signal: AbortSignal; readonly approved?: boolean },
  ) {
    return await new ToolCall(await this.#hostFor(agentId), { tool, input, toolCallId }).make({
      approved,
      signal: AbortSignal.any([signal, this.#parts.closing]),
      spanContext: this.#spanContext(),
      facilities: { delegation: unboundDelegation([agentId]), log: () => undefined },
    });
  }

  async #hostFor(agentId: string): Promise<CallHost> {
    const { resolver, limits, report, authorize } = this.#parts;
    const { agent } = await resolver.equip(agentId, this.principal);
    const hook = reportedHook(authorize, reportAt(report, { traceId: this.state.traceId }), 'authorize');
    return {
      ...this.#parts,
      agent,
      principal: this.principal,
      actor: actorOf(this.principal),
      action: 'tool.undo',
      limits: minLimits(limits, agent.limits),
      authorize: (action, ...rest) => hook(action === 'tool.call' ? 'tool.undo' : action, ...rest),
      resolveSecret: resolver.secret,
      redaction: this.#redaction,
    };
  }

  #spanContext() {
    const { emit, now } = this.#parts;
    const { tenant } = this.principal;
    const { traceId } = this.state;
    const options = { emit: redactedEmit(emit, this.#redaction), now };
    return traceAt({ traceId, parentSpanId: undefined, tenant, actor: actorOf(this.principal) }, options);
  }

  /** Adds the message to the chat, where it is stored. Once: its id is that of what was taken back. */
  async #tellChat(message: UIMessage): Promise<boolean> {
    const parts = this.#parts;
    const { chatId } = this.state;
    const { tenant, subject } = ownerOfRun(this.state);
    if (subject === undefined) return false;
    const owner = { tenant, subject };
    for (let tries = 0; tries < maxTries; tries++) {
      const found = await readChat(parts, owner, chatId);
      if (!found || found.record.deleting) return false;
      const at = parts.now();
      const record = { ...found.record, next: found.record.next + 1, updatedAt: Math.max(at, found.record.updatedAt) };
      const key = [...messagesPrefix(owner, chatId, record), found.record.next];
      const told: Key = [...runPrefix(this.preview.runId), 'undo-told', message.id];
      const { ok } = await parts.storage.commit([
        ...recordChanges(parts, { owner, chatId, found, record }),
        { key, value: { message, at }, ...lifetime(parts, at) },
        { key: told, value: true, ifVersion: null, ttlMs: parts.ttlMs },
      ]);
      if (!ok && await parts.storage.get(told)) return true;
      if (!ok) continue;
      takeRecent(parts, owner, chatId);
      return true;
    }
    return false;
  }
}

/** The tools that the agent has now; none where the caller may not run it, or it is gone. */
async function toolsOfAgent(parts: RuntimeParts, agentId: string, principal: Principal): Promise<readonly Tool[]> {
  try {
    const { agent, tools, servers } = await parts.resolver.equip(agentId, principal);
    return (await parts.toolSetOf(agent, tools, servers)).tools;
  } catch {
    return [];
  }
}

async function plan(
  { storage }: RuntimeParts,
  { call, tool, principal }: Pick<Planned, 'call' | 'tool'> & { readonly principal: Principal },
): Promise<Planned> {
  const { toolCallId, step } = call;
  const title = visible(tool?.heading ?? tool?.definition.title ?? `Call ${tool?.definition.id ?? call.tool}`).slice(
    0,
    120,
  );
  const facts = { toolCallId, step, tool: tool?.definition.id ?? call.tool, title };
  const record = (await storage.get(call.undoKey))?.value as UndoRecord | undefined; // `#undo` alone writes it
  const ruling = record ? rulingOnRecord(record) : await rulingOn(call, tool);
  const preview = ruling.can === 'yes' && tool?.undo
    ? await previewUndo(tool, tool.undo, { call, principal })
    : undefined;
  const shown = record?.quote === undefined ? preview?.shown : { quote: record.quote };
  return { call, tool, record, seen: preview?.digest, shown: { ...facts, ...ruling, ...shown } };
}

/** How an undo that an approval has begun has ended: the error of one that is not known to be done. */
function endOf({ state }: UndoRecord): ErrorData | undefined {
  if (state === 'done') return undefined;
  const reason = state === 'failed' ? 'undo_failed' : 'undo_unknown';
  return toData(refused('conflict', 'a call was begun and is not known to be taken back', reason));
}

type Ruling = Pick<UndoCall, 'can' | 'why'>;

function rulingOnRecord({ state }: UndoRecord): Ruling {
  if (state === 'done') return { can: 'nothing', why: 'taken_back' };
  return { can: 'no', why: state === 'failed' ? 'undo_failed' : 'undo_unknown' };
}

async function rulingOn({ end, input, output }: ActedCall, tool: Tool | undefined): Promise<Ruling> {
  if (end === 'read' || (tool && !mayAct(tool.definition))) return { can: 'nothing', why: 'read_only' };
  if (end === 'open') return { can: 'nothing', why: 'not_made' };
  if (tool?.definition.type === 'agent' || tool?.definition.id === codeRunId) {
    return { can: 'nothing', why: 'inner_calls' };
  }
  if (end === 'failed') return { can: 'nothing', why: 'call_failed' };
  if (end === 'unknown') return { can: 'no', why: 'outcome_unknown' };
  if (!tool) return { can: 'no', why: 'no_tool' };
  if (isRecord(output) && output['changed'] === false && tool.definition.category === 'tree') {
    return { can: 'nothing', why: 'no_change' };
  }
  if (!tool.undo) return { can: 'no', why: 'no_undo' };
  if (hasSecret(input) || hasSecret(output)) return { can: 'no', why: 'redacted' };
  return (await tool.check(input)).ok ? { can: 'yes' } : { can: 'no', why: 'tool_changed' };
}

/** Whether a secret was taken out of the value: what is left is not what the tool has used. */
function hasSecret(value: unknown): boolean {
  return /\[secret [\w.-]+\]/.test(JSON.stringify(value) ?? '');
}

async function previewUndo(
  tool: Tool,
  { describe }: ToolUndo,
  { call, principal }: { readonly call: ActedCall; readonly principal: Principal },
): Promise<{ readonly shown: ShownPreview; readonly digest: string } | undefined> {
  if (!describe) return undefined;
  const described = {
    ...tool,
    describe: (input: unknown, context: Parameters<typeof describe>[2]) => describe(input, call.output, context),
  };
  return await previewCall(described, call.input, { principal, redact: (data) => data }); // it has resolved no secret
}

/** The person has confirmed the undo by its digest. It acts, whatever the call did. */
function withoutApproval({ approval: _, ...definition }: Tool['definition']): Tool['definition'] {
  return { ...definition, annotations: { ...definition.annotations, readOnlyHint: false, idempotentHint: false } };
}

/** What the chat says. It is the runtime's, and the quotes are data. */
function messageOf(
  { runId, digest }: UndoPreview,
  takenBack: readonly UndoCall[],
  remains: readonly UndoCall[],
): UIMessage {
  const rest = remains.length > 0 ? ` Not taken back: ${linesOf(remains)}.` : '';
  const data = {
    runId,
    takenBack: takenBack.map(({ toolCallId }) => toolCallId),
    remains: remains.map(({ toolCallId }) => toolCallId),
  };
  return {
    id: `undo_${sha256Sync(canonicalJson([digest, data.takenBack])).slice(0, 24)}`,
    role: 'assistant',
    parts: [{ type: 'text', text: `Taken back: ${linesOf(takenBack)}.${rest}` }, { type: 'data-undo', data }],
  };
}

/** The most calls of an item of the inbox. Its title counts all. */
const mostShown = 50;

function linesOf(calls: readonly UndoCall[]): string {
  return calls.map(({ title, quote }) => quote === undefined ? title : `${title}: “${quote}”`).join('; ');
}

function refused(code: 'conflict' | 'not_found' | 'cancelled', why: string, reason: string): PinnaceError {
  return new PinnaceError(code, `Cannot take back: ${why}`, { retryable: false, details: { reason } });
}
