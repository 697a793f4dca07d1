/** The calls of a chat that a person was asked about: finds them, spends the decisions, and settles them. */

import type { CallForApproval, RepeatedCall } from './run-context.ts';
import { toData } from '../base/errors.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { EarlierClaim, Interruption, Interruptions, SpentDecision } from '../permission/interruption.ts';
import { type ClaimHost, claimOn, earlierClaim, notApproved, sourcesOf } from '../tools/call-approval.ts';
import { editedChunk, editsOf } from '../tools/edited-calls.ts';
import { canonicalJson } from '../base/json.ts';
import { outcomeChunks, toolErrorPart } from '../tools/call-ends.ts';
import type { RunFacts } from '../permission/run-facts.ts';
import type { RunCalls } from '../tools/run-calls.ts';
import { mostWaiting } from '../permission/waiting.ts';
import { calledOfProvider } from '../tools/provider-tool.ts';
import type { ToolCall } from '../tools/tool-call.ts';
import { type AnsweredCall, askedOptions } from './issued-metadata.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import { denied, leftWaiting, unknownOutcome, withError } from './model-messages.ts';
import { programsIn } from './message-parts.ts';

/** A run whose chat may have such calls. */
interface DecidingRun extends ClaimHost {
  readonly runId: string;
  readonly request: { readonly chat: { readonly id: string; readonly messages: readonly UIMessage[] } };
  readonly toolSet: { readonly tools: readonly Tool[] };
  readonly interruptions: Interruptions;
  readonly facts: RunFacts;
}

/**
 * Finds the calls of the last message that needed an approval, and spends the decisions. The client's message says which
 * approvals there are; what was decided, and about which call, the record alone says.
 */
export async function spendApprovals(run: DecidingRun): Promise<readonly CallForApproval[]> {
  const calls: CallForApproval[] = [];
  const last = run.request.chat.messages.at(-1);
  const programs = programsIn(last);
  for (const { approvalId, toolCallId, name, input } of approvalsRequestedIn(last)) {
    if (programs.of(toolCallId) !== undefined) continue; // the program spends it
    const { tools } = run.toolSet;
    const tool = tools.find(({ definition }) => definition.name === name) ?? calledOfProvider(tools, name);
    if (!tool) continue;
    const about = [tool.definition, input, ...sourcesOf(run.agent, run.facts.askedBefore(toolCallId))];
    const earlier = (): Promise<EarlierClaim> => earlierClaim(run, about);
    const decision = await run.interruptions.spend(approvalId, await claimOn(run, about), { by: run.runId, earlier });
    calls.push({ toolCallId, tool, input, decision, approvalId });
  }
  return calls;
}

/**
 * Ends the calls of earlier messages that waited for a person when the chat went on: the record of each says what was decided, and
 * whether the call was made.
 */
export async function endLeftCalls(
  { request: { chat }, principal, interruptions }: DecidingRun,
): Promise<readonly UIMessage[]> {
  const { messages } = chat;
  const left = messages.slice(0, -1).flatMap(approvalsRequestedIn).slice(-mostWaiting);
  if (left.length === 0) return messages;
  const ended = await Promise.all(left.map(async ({ approvalId }) => {
    const record = await interruptions.find(principal, approvalId);
    // The chat of a client may come back to the question; a stored one does not.
    if (record?.goesOn && record.state === 'pending') await interruptions.close(approvalId, 'closed');
    return [approvalId, record && leftError(record)] as const;
  }));
  const errors = new Map(ended);
  return messages.map((message, at) => {
    if (at === messages.length - 1 || approvalsRequestedIn(message).length === 0) return message;
    const parts = message.parts.map((part) => {
      const error = 'approval' in part && isWaiting(part.state) ? errors.get(part.approval?.id ?? '') : undefined;
      return error === undefined ? part : withError(part, error);
    });
    return { ...message, parts };
  });
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

/** The tool parts of a message that wait for an approval, or claim one: the last ones, as many as can wait. Each takes a look at a record. */
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
  }).slice(-mostWaiting);
}

function isWaiting(state: string): boolean {
  return state === 'approval-requested' || state === 'approval-responded';
}

/** How calls are settled. */
interface SettleOptions {
  readonly decided: readonly (CallForApproval | RepeatedCall)[];
  readonly calls: RunCalls;
  readonly push: (chunk: UIMessageChunk) => void;
  readonly signal: AbortSignal;
  readonly traceId: string;
}

/** The chat with its settled calls, and how many calls wait for a person again. */
interface SettledChat {
  readonly messages: readonly UIMessage[];
  readonly waiting: number;
  /** What providers learn about calls that they have asked about. */
  readonly answered: readonly AnsweredCall[];
}

/** Makes the approved calls in parallel, adds their outcomes to the stream, and returns the chat with the settled calls. */
export async function settleDecided(messages: readonly UIMessage[], options: SettleOptions): Promise<SettledChat> {
  const { decided } = options;
  const last = messages.at(-1);
  if (decided.length === 0 || !last) return { messages, waiting: 0, answered: [] };
  const answered: AnsweredCall[] = [];
  const asked = new Set<string>();
  const outcomes = await Promise.all(
    decided.map(async (call) => {
      const part = last.parts.findLast((one) => 'toolCallId' in one && one.toolCallId === call.toolCallId);
      const answer = await answerProvider(call, part?.type === 'dynamic-tool', options);
      if (!answer) return [call.toolCallId, await settle(call, options)] as const;
      asked.add(call.toolCallId);
      answered.push(answer.answered);
      return [call.toolCallId, answer.outcome] as const;
    }),
  );
  const parts = [...last.parts];
  for (const [toolCallId, outcome] of outcomes) {
    const at = parts.findLastIndex((part) => 'toolCallId' in part && part.toolCallId === toolCallId);
    const part = parts[at];
    if (part && outcome) parts[at] = withOutcome(withEditedInput(part, decided), outcome);
  }
  for (const call of decided) {
    const edits = editsOfCall(call);
    if (edits.length > 0) parts.push(editedChunk(call.toolCallId, edits));
  }
  const waiting = outcomes.filter(([id, outcome]) => outcome === undefined && !asked.has(id)).length;
  return { messages: [...messages.slice(0, -1), { ...last, parts }], waiting, answered };
}

function editedInputOf(call: CallForApproval | RepeatedCall | undefined): SpentDecision['edited'] {
  return call && 'decision' in call && 'approved' in call.decision ? call.decision.edited : undefined;
}

function editsOfCall(call: CallForApproval | RepeatedCall): ReturnType<typeof editsOf> {
  const edited = editedInputOf(call);
  return edited ? editsOf(call.input, edited.input) : [];
}

function withEditedInput(
  part: UIMessage['parts'][number],
  decided: readonly (CallForApproval | RepeatedCall)[],
): UIMessage['parts'][number] {
  const edited = editedInputOf(
    decided.find(({ toolCallId }) => 'toolCallId' in part && part.toolCallId === toolCallId),
  );
  return edited ? { ...part, input: edited.input } as UIMessage['parts'][number] : part; // the same part, with another input
}

/**
 * Settles a call that its provider has asked about: lets the provider make it, or says why not. `undefined` for any other call, and for
 * one of which nothing is decided.
 */
async function answerProvider(
  decided: CallForApproval | RepeatedCall,
  dynamic: boolean,
  { calls, push, traceId }: SettleOptions,
): Promise<{ readonly answered: AnsweredCall; readonly outcome: ToolOutcome | undefined } | undefined> {
  if (!('decision' in decided) || !('approved' in decided.decision)) return undefined;
  const { toolCallId, tool, input, decision: { providerApprovalId, approved, reason, ...decision } } = decided;
  if (providerApprovalId === undefined) return undefined;
  const toolName = tool.definition.name;
  const answered = { toolCallId, toolName, input, providerApprovalId };
  if (!approved) {
    push({ type: 'tool-output-denied', toolCallId });
    const { message, ...error } = toData(notApproved(tool.definition.id, { ...decision, approved, reason }));
    push(toolErrorPart({ toolCallId, tool: toolName, traceId }, { ...error, message }));
    return {
      answered: { ...answered, approved, reason: denied(reason) },
      outcome: { ok: false, error: { ...error, message: denied(reason) } },
    };
  }
  const providerMetadata = askedOptions(providerApprovalId);
  const refused = await calls.letProvider(calls.openAsked(tool, input, { toolCallId, providerApprovalId }), {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    providerExecuted: true,
    providerMetadata,
    ...(dynamic && { dynamic }),
  });
  if (!refused) return { answered: { ...answered, approved }, outcome: undefined };
  const outcome = { ok: false, error: refused } as const;
  for (const chunk of outcomeChunks(tool, outcome, { toolCallId, traceId })) push(chunk);
  return { answered: { ...answered, approved: false, reason: refused.message }, outcome };
}

async function settle(
  decided: CallForApproval | RepeatedCall,
  { calls, push, signal, traceId }: SettleOptions,
): Promise<ToolOutcome | undefined> {
  const { toolCallId, tool, input } = decided;
  push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input });
  if (!('decision' in decided)) {
    const { chunks, outcome } = await calls.askOrSettle(calls.open(tool, input, toolCallId), signal);
    chunks.forEach(push);
    return outcome;
  }
  const { decision, approvalId } = decided;
  if ('approved' in decision && decision.approved) {
    const call = calls.open(tool, input, toolCallId);
    if (decision.edited) return await settleEdited(decided, decision.edited, { calls, push, signal });
    if (decision.preview !== undefined && !await call.isAsShown(decision.preview)) {
      const { chunks, outcome } = await calls.requestApproval(call); // with what there is now
      chunks.forEach(push);
      return outcome;
    }
    // An approval is no answer to what a tool asked.
    const interruptionId = decision.kind === 'approval' ? undefined : approvalId;
    const terms = { signal, approved: true, interruptionId };
    const { chunks, outcome } = await calls.settle(call, terms);
    chunks.forEach(push);
    return outcome;
  }
  const outcome = { ok: false as const, error: toData(notApproved(tool.definition.id, decision)) };
  const [shown, ...others] = outcomeChunks(tool, outcome, { toolCallId, traceId });
  // The person knows why: clients show the call as denied, and the model receives the reason.
  const isDenied = 'approved' in decision;
  for (const chunk of [isDenied ? { type: 'tool-output-denied' as const, toolCallId } : shown, ...others]) {
    if (chunk) push(chunk);
  }
  return isDenied ? { ok: false, error: { ...outcome.error, message: denied(decision.reason) } } : outcome; // as the next turn says it
}

/** Makes a call with the input of the person, unless a rule or the tool wants a decision on that. */
async function settleEdited(
  { toolCallId, tool, input: asked, decision }: CallForApproval,
  edited: NonNullable<SpentDecision['edited']>,
  { calls, push, signal }: Pick<SettleOptions, 'calls' | 'push' | 'signal'>,
): Promise<ToolOutcome | undefined> {
  const { input } = edited;
  const preview = 'preview' in decision ? decision.preview : undefined;
  const isAsShown = preview === undefined || await calls.open(tool, asked, toolCallId).isAsShown(preview);
  push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input });
  push(editedChunk(toolCallId, editsOf(asked, input)));
  const probe = calls.open(tool, input, toolCallId);
  const { chunks, outcome } = !isAsShown || await wantsOthers(probe, edited)
    ? await calls.requestApproval(probe)
    : await calls.settle(calls.open(tool, input, toolCallId), { signal, approved: true });
  chunks.forEach(push);
  return outcome;
}

/** Whether a call with the input of a person needs another decision: a rule names others for it, or the tool quotes another thing. */
export async function wantsOthers(
  probe: ToolCall,
  { approvers, fourEyes, quote }: Pick<NonNullable<SpentDecision['edited']>, 'approvers' | 'fourEyes' | 'quote'>,
): Promise<boolean> {
  const shown = await probe.describe();
  if (shown === undefined) return false;
  const [before, after] = [[approvers ?? [], fourEyes ?? false], [shown.approvers ?? [], shown.fourEyes ?? false]];
  return canonicalJson(before) !== canonicalJson(after) || shown.quote !== quote;
}

/** The part as the AI SDK would have it after the call. */
function withOutcome(part: UIMessage['parts'][number], outcome: ToolOutcome): UIMessage['parts'][number] {
  const { approval: _, ...call } = part as UIMessage['parts'][number] & { approval?: unknown };
  const settled = outcome.ok
    ? { ...call, state: 'output-available', output: outcome.output }
    : { ...call, state: 'output-error', errorText: outcome.error.message };
  return settled as UIMessage['parts'][number]; // a tool part in one of its ended states; checked with all others
}
