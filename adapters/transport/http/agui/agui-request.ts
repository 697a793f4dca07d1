/** Translates what an AG-UI client sends into decisions and a run request. */

import { PinnaceError } from '../../../../src/base/errors.ts';
import { parse } from '../../../../src/base/parse.ts';
import type { Decide } from '../../chat/decide-answered.ts';
import { isDecided } from '../../chat/decide-answered.ts';
import { type AguiInput, AguiUserMessage } from './agui-input.ts';
import { fromInterruptId, type WaitingApproval } from './interrupt-id.ts';

/** What a client may set in `forwardedProps`. */
const fields = ['limits', 'budget', 'output', 'settings'] as const;

interface Answer {
  readonly of: WaitingApproval;
  readonly decision: { readonly approved: boolean; readonly reason?: string };
}

/**
 * Stores the decisions in `resume`. Those that were stored before stay as they are.
 *
 * @throws PinnaceError `invalid_argument` for an answer that is none, and what `decide` throws.
 */
export async function decideResumed({ resume = [] }: AguiInput, decide: Decide): Promise<void> {
  const answers = resume.map(answerOf);
  await Promise.all(answers.map(async ({ of: { runId, approvalId }, decision }) => {
    try {
      await decide(runId, approvalId, decision);
    } catch (error) {
      if (!(error instanceof PinnaceError && isDecided(error))) throw error;
    }
  }));
}

/**
 * Returns the request. The endpoint stores the chat: of the messages only the last one counts, which must be of a person, unless
 * the run goes on after an interrupt.
 *
 * @throws PinnaceError `invalid_argument` when there is nothing to answer.
 */
export function aguiRequest(agentId: string, input: AguiInput): Readonly<Record<string, unknown>> {
  const { threadId, context = [], state, forwardedProps } = input;
  const given = isRecord(forwardedProps)
    ? Object.fromEntries(
      fields.flatMap((name) => forwardedProps[name] === undefined ? [] : [[name, forwardedProps[name]]]),
    )
    : {};
  const known = context.map(({ description, value }) => ({ source: description.slice(0, 1024), content: value }));
  const shared = isRecord(state) && Object.keys(state).length > 0
    ? [{ source: 'state of the application', content: JSON.stringify(state) }]
    : [];
  return {
    ...given,
    agentId,
    context: [...known, ...shared],
    chat: { id: threadId, store: true, messages: [messageOf(input)] },
  };
}

function messageOf({ messages, resume = [] }: AguiInput): Readonly<Record<string, unknown>> {
  const [first] = resume;
  if (first) {
    // The stored answer counts, never what a client says of it.
    return { id: answerOf(first).of.messageId, role: 'assistant', parts: [{ type: 'step-start' }] };
  }
  const last = messages.at(-1);
  if (last?.role !== 'user') throw refused('agui_no_message', 'the last message must be one of the role "user"');
  const { id, content } = parse(AguiUserMessage, last, { what: 'the last message' });
  return {
    id,
    role: 'user',
    parts: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(partOf),
  };
}

function partOf(part: Exclude<AguiUserMessage['content'], string>[number]): Readonly<Record<string, unknown>> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { type, value, mimeType } = part.source;
  if (type === 'file') {
    throw refused('agui_file_source', 'a file of a provider cannot be read here; send its data or its address');
  }
  const mediaType = mimeType ?? 'application/octet-stream';
  return { type: 'file', mediaType, url: type === 'data' ? `data:${mediaType};base64,${value}` : value };
}

function answerOf({ interruptId, status, payload }: NonNullable<AguiInput['resume']>[number]): Answer {
  const of = fromInterruptId(interruptId);
  if (!of) throw refused('agui_interrupt', 'there is no interrupt of this id; send it as it was received');
  if (status === 'cancelled') return { of, decision: { approved: false, reason: 'Canceled' } };
  if (typeof payload === 'boolean') return { of, decision: { approved: payload } };
  const { approved, reason }: Readonly<Record<string, unknown>> = isRecord(payload) ? payload : {};
  if (typeof approved !== 'boolean') {
    throw refused('agui_interrupt', 'the payload must be { "approved": true or false, "reason"?: "…" }');
  }
  return { of, decision: { approved, ...(typeof reason === 'string' && { reason }) } };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot run the agent: ${why}`, { details: { reason } });
}
