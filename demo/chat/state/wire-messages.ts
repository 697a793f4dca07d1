/** Returns a chat's messages as AI SDK transports send them. */

import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import { partsToSend } from '../../files/state/attached-file.ts';
import type { AssistantMessage, Message, Part, ToolPart, ToolState } from './message.ts';
import type { Approval } from './run-data.ts';

type WirePart = UIMessage['parts'][number];

/**
 * Returns the messages for the next run. Reasoning, sources that a model names, logs and errors of runs stay on the page; what may be
 * cited goes along, for its numbers go on; a tool call without an
 * outcome is sent with an unknown one, because models expect an answer to every call. An answer with nothing to say is left out. When the
 * last message is an answer whose calls wait for a person, they are what the run goes on with.
 */
export function toWireMessages(messages: readonly Message[]): UIMessage[] {
  return messages.map(toWireMessage).filter(({ parts }) => parts.length > 0);
}

function toWireMessage(message: Message): UIMessage {
  const { id, role } = message;
  if (role === 'user') return { id, role, parts: partsToSend(message) };
  return { id, role, parts: toWireParts(message) };
}

function toWireParts({ parts }: AssistantMessage): WirePart[] {
  const all = parts.value.flatMap(toWirePart);
  return all.some(({ type }) => type !== 'step-start' && type !== 'data-sources' && type !== 'data-context') ? all : [];
}

function toWirePart(part: Part): WirePart[] {
  switch (part.type) {
    case 'text':
      return part.text.value.trim() === '' ? [] : [{ type: 'text', text: part.text.value, state: 'done' }];
    case 'step':
      return [{ type: 'step-start' }];
    case 'steering':
      return [{ type: 'steering-message', id: part.id, parts: [{ type: 'text', text: part.text }] }];
    case 'tool':
      return toWireCall(part);
    case 'citations': {
      const { toolCallId, sources } = part;
      return [{ type: 'data-sources', id: toolCallId, data: { toolCallId, sources } }];
    }
    case 'compaction': {
      const { type, id, ...data } = part;
      return [{ type: `data-${type}`, id, data }];
    }
    case 'context':
      return [{ type: 'data-context', data: part.data }];
    default:
      return [];
  }
}

function toWireCall({ toolCallId, call }: ToolPart): WirePart[] {
  const { name, dynamic, state, input, output, errorText, failure, approval } = call.value;
  if (name === '' || input === undefined) return [];
  const kind = dynamic ? { type: 'dynamic-tool' as const, toolName: name } : { type: `tool-${name}` as const };
  if (state === 'result') return [{ ...kind, toolCallId, state: 'output-available', input, output: output ?? null }];
  if (state === 'waiting') return approval ? [toWireWaiting(approval, { ...kind, toolCallId, input })] : [];
  const why = whyNot[state] ?? failure?.message ?? errorText ?? 'The call was stopped';
  return [{ ...kind, toolCallId, state: 'output-error', input, errorText: why }];
}

const whyNot: { readonly [S in ToolState]?: string } = {
  denied: 'The call was denied',
  undecided: 'The call was not made: it was never decided on',
  stopped:
    'The outcome of this call is unknown: its result never arrived. It may have taken effect; check before calling it again',
};

type Kind = { readonly type: 'dynamic-tool'; readonly toolName: string } | { readonly type: `tool-${string}` };

/** Says which approval there is; what was decided, the runtime knows for itself. */
function toWireWaiting(
  { id, decision }: Approval,
  call: Kind & { readonly toolCallId: string; readonly input: unknown },
): WirePart {
  if (typeof decision !== 'object') return { ...call, state: 'approval-requested', approval: { id } };
  const { approved, reason } = decision;
  const approval = { id, approved, ...(reason !== undefined && { reason }) };
  return { ...call, state: 'approval-responded', approval };
}
