/** Decides on an item: in its chat, where this page has it, so that the chat goes on; any other at its runtime. */

import { fromData } from '../../../src/base/errors.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { Playground } from '../../app/state/playground.ts';
import { waitingCalls } from '../../chat/state/approval.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { AssistantMessage } from '../../chat/state/message.ts';
import { planOf } from '../../chat/state/plan.ts';
import { openQuestions, type PlanPart } from '../../plan/state/plan-data.ts';
import { type Answer, sendText } from '../../plan/state/plan-reply.ts';
import type { WaitingItem } from '../state/inbox.ts';

/** What a person says to an item. */
export interface WaitingDecision extends Decision {
  /** What to call the tool with. */
  readonly input?: unknown;
  /** The answer to a question. */
  readonly answer?: Answer;
}

/** Decides on an item. Returns what went wrong. */
export async function decideItem(
  { waiting, chats }: Playground,
  item: WaitingItem,
  { input, answer = { value: undefined, said: 'You approved this call' }, ...decision }: WaitingDecision,
): Promise<string | undefined> {
  const { id, seen, kind } = item;
  let problem: string | undefined;
  let isSent = false;
  const send = async (value: unknown): Promise<void> => {
    problem = undefined;
    isSent = true;
    try {
      const more = { ...(input !== undefined && { input }), ...(kind === 'question' && { answer: value }) };
      const inbox = await waiting.inboxOf(item);
      const [result] = await inbox.decide([{ id, seen, ...decision, ...more }]);
      if (result?.state === 'refused') throw fromData(result.error);
    } catch (error) {
      problem = error instanceof Error ? error.message : 'The decision was not sent';
      throw error;
    }
  };
  const chat = chats.list.value.find((each) => each.id === item.chatId || planIn(each)?.planId === item.runId);
  if (chat) await chats.open(chat.id);
  const last = chat && lastAnswer(chat);
  const part = last && waitingCalls(last).find(({ call }) => call.value.approval?.id === id);
  const plan = chat && planIn(chat);
  const question = plan && openQuestions(plan).find(({ ask }) => ask === id);
  if (part) await chats.decide(part, decision, () => send(undefined));
  else if (question) await chats.reply(question, answer, send);
  if (!isSent) await sendText(answer.value, send).catch(() => undefined); // `problem` says it
  return problem;
}

function lastAnswer({ messages }: Chat): AssistantMessage | undefined {
  const last = messages.value.at(-1);
  return last?.role === 'assistant' ? last : undefined;
}

/** The plan of the chat's last answer. Items of plans do not name their chat. */
function planIn(chat: Chat): PlanPart | undefined {
  const last = lastAnswer(chat);
  return last && planOf(last);
}
