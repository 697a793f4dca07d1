/** How large a run request may be. */

import type { UIMessage } from '../contracts/ai-types.ts';
import { PinnaceError } from '../base/errors.ts';
import { asRecord } from '../base/is-record.ts';
import { uncovered } from './messages/compaction.ts';
import type { Limits } from './resolve/limits.ts';

/** Messages that a compaction covers may be sent along, as long as they are no more than this many times the others. */
const mostCovered = 10;
const partsPerMessage = 50;
/** The most of a part of an answer: what a run has said, its caller may send back. As much as one event of a run may have. */
const answerPartLength = 1_048_576;

/** Counts before the schema looks, which describes each message that is wrong. @throws PinnaceError `invalid_argument`. */
export function checkCounts(data: unknown, { messages: most }: Limits): void {
  const { messages } = asRecord(asRecord(data)['chat']);
  if (!Array.isArray(messages)) return;
  if (messages.length > most * mostCovered) throw tooMany(messages.length, most);
  let count = 0;
  for (const message of messages) {
    const { parts } = asRecord(message);
    if (Array.isArray(parts)) count += parts.length;
  }
  const mostParts = most * partsPerMessage;
  if (count > mostParts) {
    throw tooLarge('too_many_parts', `its messages have ${count} parts, ${mostParts} are allowed`);
  }
}

/** Checks how many messages a request has, and how long they are. @throws PinnaceError `invalid_argument`. */
export function checkSize(messages: readonly UIMessage[], limits: Limits): void {
  const count = uncovered(messages).length;
  if (count > limits.messages) throw tooMany(count, limits.messages);
  let total = 0;
  for (const [m, { role, parts }] of messages.entries()) {
    const most = role === 'assistant' ? Math.max(limits.partLength, answerPartLength) : limits.partLength;
    for (const [p, part] of parts.entries()) {
      const { length } = JSON.stringify(part);
      total += length;
      if (length > most && !isFile(part)) {
        const where = `chat.messages.${m}.parts.${p}`;
        throw tooLarge('part_too_large', `"${where}" is ${length} long, ${most} is allowed`);
      }
    }
  }
  if (total > limits.requestLength) {
    throw tooLarge('request_too_large', `it is ${total} long, ${limits.requestLength} is allowed`);
  }
}

function tooMany(length: number, most: number): PinnaceError {
  return tooLarge('too_many_messages', `the chat has ${length} messages, send the last ${most}`);
}

/** Files have limits of their own, for what they are decoded. */
function isFile(part: unknown): boolean {
  return asRecord(part)['type'] === 'file';
}

function tooLarge(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the run request: ${why}`, { details: { reason } });
}
