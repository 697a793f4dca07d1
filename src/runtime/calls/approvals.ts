/** The approvals of one run: finds calls that need one, requests it, and spends earlier ones. */

import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import {
  askedBy,
  type EarlierClaim,
  type Interruption,
  type SpendClaim,
  type SpentDecision,
  type Unspendable,
  type UnspendableReason,
} from '../../permission/interruption.ts';
import { canonicalJson } from '../../base/json.ts';
import { loadOnce } from '../../base/load-once.ts';
import type { Agent } from '../../base/schema.ts';
import { type CallDescription, describeCall } from '../../tools/approval.ts';
import type { PreparedCall } from '../../tools/prepare-call.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { RunOptions } from '../run-options.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import type { LoopApprovals } from '../loop/loop-options.ts';
import { sha256 } from '../../base/hash.ts';
import type { RunRedaction } from '../../permission/redaction/run-redaction.ts';
import { PinnaceError, toData } from '../../base/errors.ts';
import { outcomeChunks, waitingChunk } from './call-chunks.ts';
import { denied, leftWaiting, unknownOutcome, withError } from '../messages/history.ts';
import { programsIn } from '../messages/program-parts.ts';
import type { Invoke, RunCalls } from './run-calls.ts';

/** A call of an earlier run that needed an approval. */
export interface CallForApproval {
  readonly toolCallId: string;
  readonly tool: Tool;
  readonly input: unknown;
  /** What was decided, or why the approval allows nothing. */
  readonly decision: SpentDecision | Unspendable;
  /** The interruption that was decided on. */
  readonly approvalId: string;
}

type Facts = Pick<
  RunOptions,
  'agent' | 'principal' | 'request' | 'runId' | 'toolSet' | 'interruptions' | 'redaction'
>;

/** Few calls ask a person for anything but an approval. */
const loadAsking = /* @__PURE__ */ loadOnce(() => import('./ask-person.ts'));

/** Creates the approvals of a run's loop. */
export function createLoopApprovals(
  facts: Facts,
  { prepared, interactionOf, spans }: Pick<RunCalls, 'prepared' | 'interactionOf'> & {
    readonly spans: Pick<LoopSpans, 'current'>;
  },
): LoopApprovals {
  const { agent, runId, interruptions, redaction } = facts;
  const describe: LoopApprovals['describe'] = async (tool, input, toolCallId) => {
    const call = prepared.take(tool, input, toolCallId);
    return call && await describeApproval(tool, input, { prepared: call, redaction });
  };
  return {
    async needed(tool, input, toolCallId) {
      const call = await prepared.prepare(tool, input, toolCallId);
      return !call.ok && call.approval !== undefined;
    },
    describe,
    async request(tool, input, toolCallId) {
      const description = await describe(tool, input, toolCallId);
      const claim = await claimOf(facts, tool, input);
      const asked = { ...claim, ...askedBy(facts.principal, description) };
      const { id } = await interruptions.open({ ...asked, kind: 'approval', runId, agentId: agent.id });
      const target = { type: 'tool', id: tool.definition.id };
      const payload = { runId, approvalId: id };
      spans.current.emit({ action: 'approval.request', target, status: 'ok', payload });
      return { id, description };
    },
    async interrupted(tool, input, toolCallId) {
      const interaction = interactionOf(toolCallId);
      if (!interaction) return undefined;
      const claim = await claimOf(facts, tool, input);
      const { askPerson } = await loadAsking();
      return await askPerson(interaction, { facts, claim, toolId: tool.definition.id, toolCallId, spans });
    },
  };
}

/** Describes a call to the person who must approve it; returns `undefined` where no approval is needed. */
export async function describeApproval(
  tool: Tool,
  input: unknown,
  { prepared, redaction }: { readonly prepared: PreparedCall; readonly redaction: RunRedaction },
): Promise<CallDescription | undefined> {
  if (prepared.ok || !prepared.approval) return undefined;
  const { reason, approvers, fourEyes } = prepared.approval;
  // Redact before truncating, so partial secrets cannot leak.
  const rule = reason === undefined ? undefined : redaction.text(reason);
  const description = await describeCall(tool, redaction.data(input), rule);
  return { ...description, ...(approvers && { approvers }), ...(fourEyes && { fourEyes }) };
}

/**
 * Finds the calls of the last message that needed an approval, and spends the decisions. The client's message says which
 * approvals there are; what was decided, and about which call, the record alone says.
 */
export async function spendApprovals(facts: Facts): Promise<readonly CallForApproval[]> {
  const calls: CallForApproval[] = [];
  const last = facts.request.chat.messages.at(-1);
  const programs = programsIn(last);
  for (const { approvalId, toolCallId, name, input } of approvalsRequestedIn(last)) {
    if (programs.of(toolCallId) !== undefined) continue; // the program spends it
    const tool = facts.toolSet.tools.find(({ definition }) => definition.name === name);
    if (!tool) continue;
    const about = [tool.definition, input];
    const earlier = (): Promise<EarlierClaim> => earlierClaim(facts, about);
    const decision = await facts.interruptions.spend(approvalId, await claimOn(facts, about), { earlier });
    calls.push({ toolCallId, tool, input, decision, approvalId });
  }
  return calls;
}

/**
 * Ends the calls of earlier messages that waited for a person when the chat went on: the record of each says what was decided, and
 * whether the call was made.
 */
export async function endLeftCalls(
  { request: { chat }, principal, interruptions }: Facts,
): Promise<readonly UIMessage[]> {
  const { messages } = chat;
  const isLeft = (message: UIMessage, at: number): boolean =>
    at < messages.length - 1 && approvalsRequestedIn(message).length > 0;
  if (!messages.some(isLeft)) return messages;
  return await Promise.all(messages.map(async (message, at) => {
    if (!isLeft(message, at)) return message;
    const calls = approvalsRequestedIn(message);
    const ended = await Promise.all(calls.map(async ({ toolCallId, approvalId }) => {
      const record = await interruptions.find(principal, approvalId);
      return [toolCallId, record && leftError(record)] as const;
    }));
    const errors = new Map(ended);
    const parts = message.parts.map((part) => {
      const error = 'toolCallId' in part && isWaiting(part.state) ? errors.get(part.toolCallId) : undefined;
      return error === undefined ? part : withError(part, error);
    });
    return { ...message, parts };
  }));
}

/** A call that asks a person itself has started, and one whose decision is spent may have been made. */
function leftError({ state, approved, kind, reason }: Interruption): string {
  if (state === 'denied' || (state === 'spent' && approved === false)) return denied(reason);
  return state === 'spent' || kind !== 'approval' ? unknownOutcome : leftWaiting;
}

interface ApprovalPart {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly input: unknown;
}

/** The tool parts of a message that wait for an approval, or claim one. */
export function approvalsRequestedIn(message: UIMessage | undefined): readonly ApprovalPart[] {
  if (message?.role !== 'assistant') return [];
  return message.parts.flatMap((part) => {
    if (!('toolCallId' in part) || !('approval' in part) || !isWaiting(part.state)) return [];
    const name: unknown = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
    const { toolCallId, input }: { toolCallId: unknown; input?: unknown } = part;
    const approvalId: unknown = part.approval?.id;
    // The types are the AI SDK's; the values come from the client and are not checked yet.
    if (typeof approvalId !== 'string' || typeof toolCallId !== 'string' || typeof name !== 'string') return [];
    return [{ approvalId, toolCallId, name, input }];
  });
}

function isWaiting(state: string): boolean {
  return state === 'approval-requested' || state === 'approval-responded';
}

/** Digests over everything that a decision is about: whose, in which chat, by which agent, which tool as it was, with what input. */
function claimOf(facts: ClaimFacts, { definition }: Tool, input: unknown): Promise<SpendClaim> {
  return claimOn(facts, [definition, input]);
}

/** Whose decision it is, and where. */
export type ClaimFacts = Pick<RunOptions, 'agent' | 'principal' | 'request'>;

/** Returns the claim on a decision about something, which is JSON. */
export async function claimOn(facts: ClaimFacts, about: readonly unknown[]): Promise<SpendClaim> {
  const { tenant, subject } = facts.principal;
  return { tenant, subject, ...await digestsOf([tenant, { subject }], facts, about) };
}

/** Returns what version 0.2 wrote for the same decision: it named the tenant alone. */
export function earlierClaim(facts: ClaimFacts, about: readonly unknown[]): Promise<EarlierClaim> {
  return digestsOf([facts.principal.tenant], facts, about);
}

async function digestsOf(
  owner: readonly unknown[],
  { request: { chat }, agent }: ClaimFacts,
  about: readonly unknown[],
): Promise<EarlierClaim> {
  const [place, binding] = await Promise.all([
    sha256(canonicalJson([...owner, chat.id, agent.id])),
    sha256(canonicalJson([...owner, chat.id, agentFacts(agent), ...about])),
  ]);
  return { place, binding };
}

function agentFacts({ id, revision }: Agent): readonly [string, number] {
  return [id, revision];
}

/** How calls are settled. */
export interface ContinueOptions {
  readonly calls: readonly CallForApproval[];
  readonly invoke: Invoke;
  readonly approvals: Pick<LoopApprovals, 'interrupted'>;
  readonly push: (chunk: UIMessageChunk) => void;
  readonly signal: AbortSignal;
  readonly traceId: string;
  /** Whether the call is of a program that waits for a person. */
  readonly isSuspended: (toolCallId: string) => boolean;
}

/** The chat with its settled calls, and how many calls wait for a person again. */
export interface SettledChat {
  readonly messages: readonly UIMessage[];
  readonly waiting: number;
}

/** Makes the approved calls in parallel, adds their outcomes to the stream, and returns the chat with the settled calls. */
export async function settleCalls(messages: readonly UIMessage[], options: ContinueOptions): Promise<SettledChat> {
  const { calls } = options;
  const last = messages.at(-1);
  if (calls.length === 0 || !last) return { messages, waiting: 0 };
  const outcomes = await Promise.all(
    calls.map(async (call) => [call.toolCallId, await settle(call, options)] as const),
  );
  const parts = [...last.parts];
  for (const [toolCallId, outcome] of outcomes) {
    const at = parts.findLastIndex((part) => 'toolCallId' in part && part.toolCallId === toolCallId);
    const part = parts[at];
    if (part && outcome) parts[at] = withOutcome(part, outcome);
  }
  const waiting = outcomes.filter(([, outcome]) => outcome === undefined).length;
  return { messages: [...messages.slice(0, -1), { ...last, parts }], waiting };
}

async function settle(
  { toolCallId, tool, input, decision, approvalId }: CallForApproval,
  options: ContinueOptions,
): Promise<ToolOutcome | undefined> {
  const { invoke, approvals, push, signal, traceId } = options;
  push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input });
  const outcome = 'approved' in decision && decision.approved
    ? await invoke(tool, input, {
      toolCallId,
      signal,
      approved: true,
      interruptionId: interruptionOf(decision, approvalId),
    })
    : { ok: false as const, error: toData(refusal(tool.definition.id, decision)) };
  if (options.isSuspended(toolCallId)) {
    push(waitingChunk(toolCallId));
    return undefined;
  }
  const asked = outcome.ok ? undefined : await approvals.interrupted(tool, input, toolCallId);
  if (asked) {
    for (const chunk of asked) push(chunk);
    return undefined;
  }
  const [shown, ...others] = outcomeChunks(tool, outcome, { toolCallId, traceId });
  // The person knows why: clients show the call as denied, and the model receives the reason.
  const isDenied = 'approved' in decision && !decision.approved;
  for (const chunk of [isDenied ? { type: 'tool-output-denied' as const, toolCallId } : shown, ...others]) {
    if (chunk) push(chunk);
  }
  return outcome;
}

/** An approval of ours is no answer to what a tool asked. */
function interruptionOf({ kind }: SpentDecision, id: string): string | undefined {
  return kind === 'approval' ? undefined : id;
}

const unspendable: Readonly<Record<UnspendableReason, string>> = {
  approval_not_found: 'no approval has this id',
  approval_undecided: 'no one has decided on it yet',
  approval_expired: 'its approval has expired; ask for it again',
  approval_spent: 'its approval was used before; each is good for one call',
  approval_moved: 'its approval was given in another chat or to another agent',
  approval_altered: 'the call, its tool or its agent has changed since the approval was asked for',
};

/** The error of a call that was not approved. */
export function refusal(toolId: string, decision: CallForApproval['decision']): PinnaceError {
  if ('unspendable' in decision) {
    const { unspendable: reason } = decision;
    const message = `Tool "${toolId}" was not called: ${unspendable[reason]}`;
    return new PinnaceError('approval_required', message, { details: { reason } });
  }
  const why = decision.reason === undefined ? '' : `: ${decision.reason}`;
  return new PinnaceError('forbidden', `Tool "${toolId}" was not called: a person denied it${why}`, {
    details: { reason: 'approval_denied' },
  });
}

/** The part as the AI SDK would have it after the call. */
function withOutcome(part: UIMessage['parts'][number], outcome: ToolOutcome): UIMessage['parts'][number] {
  const { approval: _, ...call } = part as UIMessage['parts'][number] & { approval?: unknown };
  const settled = outcome.ok
    ? { ...call, state: 'output-available', output: outcome.output }
    : { ...call, state: 'output-error', errorText: outcome.error.message };
  return settled as UIMessage['parts'][number]; // a tool part in one of its ended states; checked with all others
}
