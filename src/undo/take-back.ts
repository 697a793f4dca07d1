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
 * 5. The chat says what was taken back, so that its model and its reader agree.
 */

import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import { visible } from '../base/text.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import { reportAt, reportedHook } from '../events/report.ts';
import { actorOf, traceAt } from '../events/span.ts';
import type { Guard } from '../permission/guarded.ts';
import { createRunRedaction, redactedEmit } from '../permission/redaction/run-redaction.ts';
import { lifetime, maxTries, messagesPrefix, readChat, takeRecent } from '../runtime/chat-record.ts';
import { minLimits } from '../runtime/limits.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { ownerOfRun, type RunState } from '../runtime/run-record.ts';
import { recordChanges } from '../runtime/start-in-chat.ts';
import type { RunUndo, UndoCall, UndoPreview, UndoReport, UndoTerms } from '../runtime/undo-types.ts';
import { mayAct } from '../tools/call-ends.ts';
import { previewCall, type ShownPreview } from '../tools/call-preview.ts';
import { codeRunId, unboundDelegation } from '../tools/run-scope.ts';
import { type CallHost, ToolCall } from '../tools/tool-call.ts';
import type { Tool, ToolUndo } from '../tools/tool.ts';
import { type ActedCall, actedCalls } from './acted-calls.ts';

/** Creates the methods. */
export function createUndo(parts: RuntimeParts, { guard }: { readonly guard: Guard }): RunUndo {
  return {
    preview: async (runId, terms, principal) =>
      (await Undoing.open(parts, { runId, terms, principal, scope: 'run:read' })).preview,
    async run(runId, { digest, ...terms }, principal, { signal } = {}) {
      const undoing = await Undoing.open(parts, { runId, terms, principal, scope: 'run:create' });
      const { agentId, traceId, state } = undoing.state;
      if (state === 'running') throw refused('conflict', 'it is still running; stop it first', 'run_running');
      if (digest !== undoing.preview.digest) {
        throw refused('conflict', 'what would be taken back has changed; look at it again', 'preview_changed');
      }
      const facts = { action: 'run.undo', target: { type: 'run', id: runId } };
      const { subject } = ownerOfRun(undoing.state);
      const effect = { ...facts, subject, principal, trace: { traceId }, context: { agentId } };
      return await guard({ ...effect, attempt: 'Cannot take back the run' }, async (at) => {
        const report = await undoing.takeBack(signal);
        const { takenBack, remains, failed } = report;
        const payload = { takenBack: takenBack.length, remains: remains.length };
        at.emit({ ...facts, status: failed ? 'error' : 'ok', ...(failed && { error: failed.error }), payload });
        return report;
      });
    },
  };
}

/** What is recorded of an undo. */
interface UndoRecord {
  readonly state: 'claimed' | 'done' | 'failed' | 'unknown';
  readonly at: number;
}

/** A call, how it is taken back, and what the person is shown of it. */
interface Planned {
  readonly call: ActedCall;
  readonly tool: Tool | undefined;
  readonly shown: UndoCall;
  /** Of what `describe` returned. */
  readonly seen: string | undefined;
}

interface Opening {
  readonly runId: string;
  readonly terms: UndoTerms;
  readonly principal: Principal;
  readonly scope: 'run:read' | 'run:create';
}

/** One look at what a run has done, and the taking back of it. */
class Undoing {
  readonly state: RunState;
  readonly preview: UndoPreview;
  readonly #parts: RuntimeParts;
  readonly #principal: Principal;
  readonly #planned: readonly Planned[];
  readonly #redaction = createRunRedaction();

  private constructor(
    parts: RuntimeParts,
    { principal, state, planned, preview }: {
      readonly principal: Principal;
      readonly state: RunState;
      readonly planned: readonly Planned[];
      readonly preview: UndoPreview;
    },
  ) {
    this.#parts = parts;
    this.#principal = principal;
    this.state = state;
    this.#planned = planned;
    this.preview = preview;
  }

  static async open(parts: RuntimeParts, { runId, terms, principal, scope }: Opening): Promise<Undoing> {
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
    const bound = planned.map((
      { call: { toolCallId, tool }, shown: { can }, seen },
    ) => [toolCallId, tool, can, seen ?? null]);
    const digest = await sha256(canonicalJson([runId, toStep, bound]));
    return new Undoing(parts, { principal, state, planned, preview: { runId, toStep, digest, calls: shown } });
  }

  async takeBack(signal = new AbortController().signal): Promise<UndoReport> {
    const done: Planned[] = [];
    let failed: UndoReport['failed'];
    for (const one of this.#planned) {
      if (one.shown.can !== 'yes' || failed) continue;
      const error = signal.aborted
        ? toData(refused('cancelled', 'the caller has gone', 'cancelled'))
        : await this.#undo(one, signal);
      if (error) failed = { toolCallId: one.call.toolCallId, error };
      else done.push(one);
    }
    const { runId } = this.preview;
    const takenBack = done.map(({ shown }) => shown);
    const remains = this.preview.calls.filter((call) => call.can !== 'nothing' && !takenBack.includes(call));
    const message = takenBack.length > 0 ? messageOf(this.preview, takenBack, remains) : undefined;
    const isStored = message !== undefined && await this.#tellChat(message).catch(() => false);
    return { runId, takenBack, remains, ...(failed && { failed }), ...(message && { message }), isStored };
  }

  /** Takes one call back. Returns the error of one that was not, or is not known to be. */
  async #undo({ call, tool, shown }: Planned, signal: AbortSignal): Promise<ErrorData | undefined> {
    const { storage, now, ttlMs } = this.#parts;
    const write = async (state: UndoRecord['state'], ifVersion?: null): Promise<boolean> => {
      const value: UndoRecord = { state, at: now() };
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
    const host = await this.#hostFor(call.agentId);
    const outcome = await new ToolCall(host, { tool: undoing, input: call.input, toolCallId: call.toolCallId }).make({
      signal: AbortSignal.any([signal, this.#parts.closing]),
      spanContext: this.#spanContext(),
      facilities: { delegation: unboundDelegation([call.agentId]), log: () => undefined },
    });
    if (!isClaimed) return outcome.ok ? undefined : outcome.error;
    const isUnknown = !outcome.ok && outcome.error.code === 'outcome_unknown';
    try {
      await write(outcome.ok ? 'done' : isUnknown ? 'unknown' : 'failed');
    } catch (thrown) {
      return toData(thrown); // the record stays `claimed`: who reads it knows no better
    }
    return outcome.ok ? undefined : outcome.error;
  }

  async #hostFor(agentId: string): Promise<CallHost> {
    const { resolver, limits, report, authorize } = this.#parts;
    const { agent } = await resolver.equip(agentId, this.#principal);
    const hook = reportedHook(authorize, reportAt(report, { traceId: this.state.traceId }), 'authorize');
    return {
      ...this.#parts,
      agent,
      principal: this.#principal,
      actor: actorOf(this.#principal),
      action: 'tool.undo',
      limits: minLimits(limits, agent.limits),
      authorize: (action, ...rest) => hook(action === 'tool.call' ? 'tool.undo' : action, ...rest),
      resolveSecret: resolver.secret,
      redaction: this.#redaction,
    };
  }

  #spanContext() {
    const { emit, now } = this.#parts;
    const { tenant } = this.#principal;
    const { traceId } = this.state;
    const options = { emit: redactedEmit(emit, this.#redaction), now };
    return traceAt({ traceId, parentSpanId: undefined, tenant, actor: actorOf(this.#principal) }, options);
  }

  /** Adds the message to the chat, where it is stored. Once: its id is that of what was confirmed. */
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
      const { ok } = await parts.storage.commit([
        ...recordChanges(parts, { owner, chatId, found, record }),
        { key, value: { message, at }, ...lifetime(parts, at) },
      ]);
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
  return { call, tool, seen: preview?.digest, shown: { ...facts, ...ruling, ...preview?.shown } };
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
  const lines = (calls: readonly UndoCall[]): string =>
    calls.map(({ title, quote }) => quote === undefined ? title : `${title}: “${quote}”`).join('; ');
  const rest = remains.length > 0 ? ` Not taken back: ${lines(remains)}.` : '';
  const data = {
    runId,
    takenBack: takenBack.map(({ toolCallId }) => toolCallId),
    remains: remains.map(({ toolCallId }) => toolCallId),
  };
  return {
    id: `undo_${digest.slice(0, 24)}`,
    role: 'assistant',
    parts: [{ type: 'text', text: `Taken back: ${lines(takenBack)}.${rest}` }, { type: 'data-undo', data }],
  };
}

function refused(code: 'conflict' | 'not_found' | 'cancelled', why: string, reason: string): PinnaceError {
  return new PinnaceError(code, `Cannot take back: ${why}`, { retryable: false, details: { reason } });
}
