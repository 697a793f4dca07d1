/** The approvals of one run: which calls need one, asking for it, and spending those that were given before. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import type { Decision, SpendClaim, Unspendable } from '../../permission/interruption.ts';
import { canonicalJson } from '../../base/json.ts';
import { askPermission } from '../../permission/authorize.ts';
import type { Agent } from '../../base/schema.ts';
import { type CallDescription, describeCall, needsApproval } from '../../tools/approval.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RunOptions } from '../execute-run.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import type { LoopApprovals } from '../loop/sdk-loop.ts';
import { sha256 } from '../../base/hash.ts';

/** A call of an earlier run that a person was asked about. */
export interface AskedCall {
  readonly toolCallId: string;
  readonly tool: Tool;
  readonly input: unknown;
  /** What was decided, or why the approval allows nothing. */
  readonly decision: Decision | Unspendable;
}

type Facts = Pick<
  RunOptions,
  'agent' | 'principal' | 'request' | 'runId' | 'authorize' | 'toolSet' | 'interruptions' | 'redaction'
>;

/** Gives how the loop of this run asks for approvals. */
export function createLoopApprovals(facts: Facts, spans: Pick<LoopSpans, 'current'>): LoopApprovals {
  const { agent, runId, interruptions } = facts;
  return {
    needed: (tool, input) => approvalNeeded(facts, tool, input),
    async ask(tool, input) {
      const claim = await claimOf(facts, tool, input);
      const { id } = await interruptions.open({ ...claim, kind: 'approval', runId, agentId: agent.id });
      const target = { type: 'tool', id: tool.definition.id };
      const payload = { runId, approvalId: id };
      spans.current.emit({ action: 'approval.request', target, status: 'ok', payload });
      return id;
    },
  };
}

/** What the person who must approve the call is asked; `undefined` when nobody must. */
export async function approvalNeeded(
  { authorize, principal, agent, redaction }: Pick<RunOptions, 'authorize' | 'principal' | 'agent' | 'redaction'>,
  tool: Tool,
  input: unknown,
): Promise<CallDescription | undefined> {
  const { definition } = tool;
  // Long inputs are shortened: what is shown of them must have no secrets before.
  const describe = (rule?: string): Promise<CallDescription> => describeCall(tool, redaction.data(input), rule);
  if (needsApproval(definition)) return await describe();
  const context = { input, agentId: agent.id };
  const wish = { action: 'tool.call', principal, resource: { type: 'tool', id: definition.id }, context };
  const ruling = await askPermission(authorize, wish); // where it denies, `invokeTool` says so
  return ruling.decision === 'ask' ? await describe(redaction.text(ruling.reason)) : undefined;
}

/**
 * Finds the calls of the last message that a person was asked about, and spends what was decided. The client's message says which
 * approvals there are; what was decided, and about which call, the record alone says.
 */
export async function spendApprovals(facts: Facts): Promise<readonly AskedCall[]> {
  const calls: AskedCall[] = [];
  for (const { approvalId, toolCallId, name, input } of askedIn(facts.request.chat.messages.at(-1))) {
    const tool = facts.toolSet.tools.find(({ definition }) => definition.name === name);
    if (!tool) continue;
    const decision = await facts.interruptions.spend(approvalId, await claimOf(facts, tool, input));
    calls.push({ toolCallId, tool, input, decision });
  }
  return calls;
}

interface AskedPart {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly input: unknown;
}

/** The tool parts of a message that wait for an approval, or claim one. */
export function askedIn(message: UIMessage | undefined): readonly AskedPart[] {
  if (message?.role !== 'assistant') return [];
  return message.parts.flatMap((part) => {
    if (!('toolCallId' in part) || !('approval' in part) || !isWaiting(part.state)) return [];
    const name: unknown = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
    const { toolCallId, input }: { toolCallId: unknown; input?: unknown } = part;
    const approvalId: unknown = part.approval?.id;
    // The types are the AI SDK's; what stands there is the client's, and nothing has checked it yet.
    if (typeof approvalId !== 'string' || typeof toolCallId !== 'string' || typeof name !== 'string') return [];
    return [{ approvalId, toolCallId, name, input }];
  });
}

function isWaiting(state: string): boolean {
  return state === 'approval-requested' || state === 'approval-responded';
}

/** Digests over everything that a decision is about: whose, in which chat, by which agent, which tool as it was, with what input. */
async function claimOf(
  { principal, request, agent }: Facts,
  { definition }: Tool,
  input: unknown,
): Promise<SpendClaim> {
  const { tenant } = principal;
  const facts = [tenant, request.chat.id, agentFacts(agent), definition, input];
  const place = await sha256(canonicalJson([tenant, request.chat.id, agent.id]));
  return { tenant, place, binding: await sha256(canonicalJson(facts)) };
}

function agentFacts({ id, revision }: Agent): readonly [string, number] {
  return [id, revision];
}
