/** A chat as others get it: its texts, its agent's name, and its tool calls in short form. */

import * as v from 'valibot';
import { withoutKeys } from '../../../adapters/models/without-keys.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { AssistantMessage, Message, Part } from '../../chat/state/message.ts';
import type { AgentCard } from '../../control/page-control.ts';
import type { PlanView } from '../../plan/state/plan-data.ts';

/** The longest name, and the longest input or result of a call that is shared, in UTF-16 code units. */
const longestName = 200;
const longestResult = 4_000;
const mostMessages = 500;
const mostParts = 200;

const name = v.pipe(v.string(), v.maxLength(longestName));
const result = v.optional(v.pipe(v.string(), v.maxLength(longestResult)));

const SharedPart = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  /** What the person wrote while the agent worked. */
  v.object({ type: v.literal('steering'), text: v.string() }),
  v.object({
    type: v.literal('tool'),
    title: name,
    state: v.picklist(['result', 'error', 'denied', 'undecided', 'stopped']),
    /** JSON or text, where the person chose to share it. */
    input: result,
    output: result,
  }),
]);
export type SharedPart = v.InferOutput<typeof SharedPart>;

const SharedMessage = v.variant('role', [
  v.object({
    role: v.literal('user'),
    text: v.string(),
    files: v.optional(v.pipe(v.array(name), v.maxLength(mostParts))),
  }),
  v.object({
    role: v.literal('assistant'),
    model: name,
    /** Whether it ended early. */
    stopped: v.optional(v.boolean()),
    parts: v.pipe(v.array(SharedPart), v.maxLength(mostParts)),
  }),
]);
export type SharedMessage = v.InferOutput<typeof SharedMessage>;

/** The format of links and its first version. A change of it is a new version, and links of earlier ones stay readable. */
export const SharedChat = v.object({
  format: v.literal('pinnace-chat'),
  formatVersion: v.literal(1),
  title: name,
  agent: v.object({ id: name, name }),
  messages: v.pipe(v.array(SharedMessage), v.minLength(1), v.maxLength(mostMessages)),
});
export type SharedChat = v.InferOutput<typeof SharedChat>;

interface ShareOptions {
  readonly agent: Pick<AgentCard, 'name' | 'tools'>;
  /** Shares inputs and results of tools, too. */
  readonly withResults: boolean;
}

/** Returns the shown messages without files, reasoning, citations and what has the form of a key. */
export function sharedChatOf(chat: Chat, options: ShareOptions): SharedChat {
  return {
    format: 'pinnace-chat',
    formatVersion: 1,
    title: nameOf(chat.title.value),
    agent: { id: nameOf(chat.agentId.value), name: nameOf(options.agent.name) },
    messages: chat.messages.value.slice(-mostMessages).map((message) => sharedMessage(message, options)),
  };
}

/** Whether an answer of the chat has a tool call. */
export function hasTools({ messages }: Chat): boolean {
  return messages.value.some((message) =>
    message.role === 'assistant' && message.parts.value.some(({ type }) => type === 'tool')
  );
}

function sharedMessage(message: Message, options: ShareOptions): SharedMessage {
  if (message.role === 'assistant') return sharedAnswer(message, options);
  const files = message.files?.value.map((file) => nameOf(file.name)) ?? [];
  return { role: 'user', text: withoutKeys(message.text), ...(files.length > 0 && { files }) };
}

function sharedAnswer({ model, outcome, parts }: AssistantMessage, options: ShareOptions): SharedMessage {
  return {
    role: 'assistant',
    model: nameOf(model),
    ...(outcome.value.type !== 'done' && { stopped: true }),
    parts: parts.value.flatMap((part) => sharedPart(part, options)).slice(0, mostParts),
  };
}

function sharedPart(part: Part, { agent, withResults }: ShareOptions): SharedPart[] {
  switch (part.type) {
    case 'text':
      return part.text.value.trim() === '' ? [] : [{ type: 'text', text: withoutKeys(part.text.value) }];
    case 'steering':
      return [{ type: 'steering', text: withoutKeys(part.text) }];
    case 'plan':
      return [{ type: 'text', text: withoutKeys(planText(part.view.value)) }];
    case 'tool': {
      const { name: id, title, state, input, output } = part.call.value;
      const shown = state === 'result' || state === 'error' || state === 'denied' || state === 'undecided';
      return [{
        type: 'tool',
        title: nameOf(title ?? agent.tools.find((tool) => tool.name === id)?.title ?? id),
        state: shown ? state : 'stopped',
        ...(withResults && { input: resultOf(input), output: resultOf(output) }),
      }];
    }
    default:
      return [];
  }
}

const taskMarks = { done: 'done', failed: 'failed', cancelled: 'canceled', ready: 'not done', waiting: 'not done' };

function planText({ tasks, omitted }: PlanView): string {
  const more = omitted > 0 ? [`- ${omitted} more`] : [];
  return ['Plan:', '', ...tasks.map(({ goal, status }) => `- ${goal} (${taskMarks[status]})`), ...more].join('\n');
}

function nameOf(text: string): string {
  return withoutKeys(text).slice(0, longestName).toWellFormed();
}

/** Keys are removed before the text is cut. */
function resultOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = withoutKeys(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > longestResult ? `${text.slice(0, longestResult - 1).toWellFormed()}…` : text;
}

/**
 * Controls, overrides and isolates of the writing direction, tags, and characters without width. Those that scripts and emoji need
 * stay, at most two in a row: a longer run is a message that only a model reads.
 */
const concealing =
  /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2061-\u206f\u00ad\u115f\u1160\u3164\uffa0\ufff9-\ufffb\u200b\u2060\ufeff\u{e0000}-\u{e0fff}]|(?<=\p{Default_Ignorable_Code_Point}{2})\p{Default_Ignorable_Code_Point}/gu;

/** A text, and how many characters were removed. */
interface ShownText {
  readonly text: string;
  readonly hidden: number;
}

/** Returns what a person sees of the text. */
export function withoutHidden(given: string): ShownText {
  let hidden = 0;
  const text = given.toWellFormed().replaceAll(concealing, () => {
    hidden++;
    return '';
  });
  return { text, hidden };
}
