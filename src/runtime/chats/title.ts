/** Titles of chats: one line of text without control and format characters. */

import * as v from 'valibot';
import type { UIMessage } from '../../contracts/ai-types.ts';

const maxTitleLength = 200;
const shownLength = 80;

/** Control characters, line breaks, and what is drawn as nothing or turns the direction of text. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** A title as a rename sets it. */
export const Title = v.pipe(
  v.string(),
  v.maxLength(maxTitleLength),
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.check((text) => text.search(hidden) < 0, 'must be one line without control and format characters'),
);

/** Returns the title of a new chat: the start of its first message. */
export function titleOf(messages: readonly UIMessage[]): string {
  const texts = messages.flatMap(({ role, parts }) => role === 'user' ? parts : []);
  const text = texts.find((part) => part.type === 'text' && 'text' in part && typeof part.text === 'string');
  const line = text && 'text' in text
    ? text.text.slice(0, 1_000).replace(hidden, ' ').replace(/\s+/gu, ' ').trim()
    : '';
  const characters = Array.from(line);
  if (characters.length <= shownLength) return line === '' ? 'New chat' : line;
  return `${characters.slice(0, shownLength - 1).join('').trimEnd()}…`;
}
