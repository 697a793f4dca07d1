/**
 * What a run that goes on in the middle of a recorded one is made of: the committed log, the place where it is cut, the agent and the
 * tools that it had, as far as they are allowed today, and the chat as its model receives it. Forks and recovery both go on from here.
 */

import type { Agent } from '../base/schema.ts';
import type { Principal } from '../base/principal.ts';
import type { ModelMessage, UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import { foldMessage } from './fold-message.ts';
import {
  type AnsweredCall,
  issuedFrom,
  issuedIn,
  issuedOnly,
  issuedWithAnswers,
  readIssued,
} from './issued-metadata.ts';
import { uncovered } from './message-parts.ts';
import { modelMessages } from './model-messages.ts';
import { leaveProvider } from './model-prompt.ts';
import { modelKey, promptKey, readPromptRecord } from './prompt-chain.ts';
import type { RunBasis } from './run-basis.ts';
import type { LostProgram, Resolution, RuntimeParts } from './run-context.ts';
import { ownerBefore, ownerOfRun, type RecordedChunk, type RunState } from './run-record.ts';
import type { RunRequest } from './run-request.ts';
import { createStepTools } from './step-tools.ts';
import type { ToolSet } from './tool-sets.ts';
import { contextOf, type ContextPart, withContextParts } from './turn-context.ts';
import { loadedIn } from './wrapped-calls.ts';

/** A recorded run with all that another one goes on from. */
export interface ParentRun {
  readonly runId: string;
  readonly state: RunState;
  readonly basis: RunBasis;
  /** What was committed. */
  readonly items: readonly RecordedChunk[];
}

/** A log that is cut. */
export interface Cut {
  /** The first step that is made again. */
  readonly step: number;
  /** The chunks that are shared, without those that open the run. */
  readonly kept: readonly RecordedChunk[];
  /** The chunks of the steps that are made again. */
  readonly dropped: readonly RecordedChunk[];
  /** Chunks that complete what is shared. */
  readonly completing: readonly UIMessageChunk[];
  /** The programs of the last shared step that go on first; that step ends with them. */
  readonly programs: readonly LostProgram[];
}

/** The chunks before the first step. */
export const opening: ReadonlySet<string> = new Set(['start', 'data-run', 'data-manifest', 'data-fork']);

/** What is shared of a log that is cut at this place, and what is not. */
export function split(items: readonly RecordedChunk[], at: number): Pick<Cut, 'kept' | 'dropped'> {
  const first = items.findIndex(({ chunk }) => !opening.has(chunk.type));
  return { kept: first < 0 ? [] : items.slice(first, Math.max(at, first)), dropped: items.slice(at) };
}

/** The places of the chunks of a type. */
export function indexesOf(items: readonly RecordedChunk[], type: UIMessageChunk['type']): readonly number[] {
  return items.flatMap(({ chunk }, i) => chunk.type === type ? [i] : []);
}

/** The agent to run: what decides on rights is always today's: the tenant, the state, the secrets, the revision. */
export function agentOf(today: Agent, recorded: Agent): Agent {
  const { entryTools, mcp, instructions, providerId, model, contextTokens, fallbacks, modelSettings, output, limits } =
    recorded;
  const dataSources = recorded.dataSources.filter((id) => today.dataSources.includes(id));
  const behavior = { entryTools, mcp, dataSources, instructions, contextTokens, modelSettings, output, limits };
  return { ...today, ...behavior, providerId, model, fallbacks };
}

/** The tools that the agent had and still has. */
export async function toolsToday(
  { resolver, toolSetOf }: RuntimeParts,
  { agent, toolSet }: Resolution,
  { today, principal }: { readonly principal: Principal; readonly today: Agent | undefined },
): Promise<ToolSet> {
  if (!today || JSON.stringify([agent.entryTools, agent.mcp]) === JSON.stringify([today.entryTools, today.mcp])) {
    return toolSet;
  }
  const found = await resolver.equip(agent.id, principal);
  const allowed = await toolSetOf(found.agent, found.tools, found.servers);
  const ids = new Set(allowed.tools.map(({ definition }) => definition.id));
  return { ...toolSet, tools: toolSet.tools.filter(({ definition }) => ids.has(definition.id)) };
}

/** The run with these tools, those of them on offer that the recorded steps have loaded. */
export function equipped(
  { discovery }: RuntimeParts,
  { basis: { active }, cut }: { readonly basis: RunBasis; readonly cut: Cut },
  { resolved, toolSet, principal }: {
    readonly resolved: Resolution;
    readonly toolSet: ToolSet;
    readonly principal: Principal;
  },
): Resolution {
  if (toolSet === resolved.toolSet && !active) return resolved;
  const { agent, contextTokens, request: { chat } } = resolved;
  const answer = foldMessage(answerIn(cut.kept.map(({ chunk }) => chunk)), { id: '', role: 'assistant', parts: [] });
  const loaded = loadedIn(uncovered([...chat.messages, answer]));
  const stepTools = createStepTools({ agent, toolSet, discovery, contextTokens, principal, loaded, active });
  return { ...resolved, toolSet, stepTools };
}

interface Messages {
  readonly request: RunRequest;
  readonly model: readonly ModelMessage[];
  /** The message of the recorded steps. */
  readonly answerId: string;
  readonly toModel: (messages: readonly UIMessage[], answered?: readonly AnsweredCall[]) => readonly ModelMessage[];
}

/** The chat as the model receives it: the request, then what the recorded steps have said, and `edited` what is changed of them. */
export async function messagesOf(
  { storage }: RuntimeParts,
  { parent, cut, edited = [] }: {
    readonly parent: ParentRun;
    readonly cut: Cut;
    readonly edited?: readonly UIMessageChunk[];
  },
  resolved: Resolution,
): Promise<Messages> {
  const { request } = resolved;
  const { state: { continues, agentId }, basis } = parent;
  const chunks = [...cut.kept.map(({ chunk }) => chunk), ...edited, ...cut.completing];
  const given = settledIn(request.chat.messages, chunks);
  const own: UIMessage = foldMessage(answerIn(chunks), { id: `msg_${parent.runId}`, role: 'assistant', parts: [] });
  const hasOwn = own.parts.length > 0;
  const messages = hasOwn ? [...given, own] : given;
  const { provider, model: { modelId } } = resolved;
  const owner = ownerBefore(parent.state);
  const { tenant, subject = '' } = ownerOfRun(parent.state);
  const last = given.at(-1);
  const before = continues === undefined || !last
    ? undefined
    : issuedOnly(last.id, await readIssued(storage, { owner, agentId, chatId: parent.state.chatId, runId: continues }));
  const record = await readPromptRecord(storage, promptKey({ tenant, subject }, parent.state.chatId));
  const hasContext = contextOf(own.parts).length > 0;
  const toModel = (all: readonly UIMessage[], answered: readonly AnsweredCall[] = []): readonly ModelMessage[] => {
    const ofOwn = issuedIn(chunks);
    const others = issuedFrom(record?.issued ?? [], { agentId, model: modelKey(resolved) }, before);
    const model = modelMessages(
      {
        ...request,
        chat: { ...request.chat, messages: hasContext ? [...all] : withOldContext(all, resolved.contexts, hasOwn) },
      },
      [],
      issuedWithAnswers(
        { take: (part, id) => hasOwn && id === own.id ? ofOwn.take(part, id) : others?.take(part, id) },
        answered,
      ),
    );
    if (provider.id !== basis.providerId || modelId !== basis.modelId) leaveProvider(model);
    return model;
  };
  return {
    request: { ...request, chat: { ...request.chat, messages } },
    model: toModel(messages),
    answerId: own.id,
    toModel,
  };
}

/** Runs of version 0.2 have no record of their context: it stands before what they have said. */
function withOldContext(
  messages: readonly UIMessage[],
  contexts: readonly ContextPart[],
  hasOwn: boolean,
): UIMessage[] {
  const last = messages.at(-1);
  if (!hasOwn || !last) return [...withContextParts(messages, contexts)];
  return [...messages.slice(0, -1), { ...last, parts: [...contexts, ...last.parts] }];
}

/** Without the calls that the run has settled before its first step: they are of the message before. */
function answerIn(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] {
  const first = chunks.findIndex(({ type }) => type === 'start-step');
  return chunks.filter((chunk, i) => (first >= 0 && i > first) || !('toolCallId' in chunk));
}

/** The calls of the chat's last message that the run has settled before its first step. */
function settledIn(messages: readonly UIMessage[], chunks: readonly UIMessageChunk[]): UIMessage[] {
  const last = messages.at(-1);
  if (!last || approvalsRequestedIn(last).length === 0) return [...messages];
  const first = chunks.findIndex(({ type }) => type === 'start-step');
  const before = chunks.slice(0, first < 0 ? chunks.length : first);
  return [...messages.slice(0, -1), foldMessage(before, last)];
}
