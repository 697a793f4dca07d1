/** The turns of a prompt: a message of the user, and all that follows until the next. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type MessageOrigin, originOf } from '../messages/origin.ts';

type Prompt = readonly LanguageModelV4Message[];

/** Where each turn starts. Messages before the first belong to none: instructions, a summary, a greeting. */
export function turnStarts(prompt: Prompt): readonly number[] {
  return prompt.flatMap((message, at) => {
    if (originOf(message)?.kind !== 'user') return [];
    return [kindAt(prompt, at - 1) === 'context' ? at - 1 : at]; // the context of a request goes with its last message
  });
}

/** Where the chat starts, behind the instructions. */
export function chatStart(prompt: Prompt): number {
  return prompt[0]?.role === 'system' ? 1 : 0;
}

/** Where the turn starts that the run answers. */
export function currentTurn(prompt: Prompt): number {
  return turnStarts(prompt).at(-1) ?? chatStart(prompt);
}

/** Whether a message must stay as it is. */
export function isPinned(message: LanguageModelV4Message): boolean {
  return message.role === 'system' || originOf(message)?.isPinned === true;
}

/** Whether a message is the summary of earlier ones. */
export function isSummary(message: LanguageModelV4Message): boolean {
  return originOf(message)?.kind === 'summary';
}

function kindAt(prompt: Prompt, at: number): MessageOrigin['kind'] | undefined {
  const message = prompt[at];
  return message && originOf(message)?.kind;
}
