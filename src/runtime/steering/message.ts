/** A message to an agent that is running. */

import * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { canonicalJson, readData } from '../../base/json.ts';
import { parse } from '../../base/parse.ts';

/** The most UTF-16 code units of a message's text. */
export const maxMessageLength = 32_768;

const MessageId = v.pipe(
  v.string(),
  v.regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits and _ . : -'),
);

/** The schema of a message; a user message of the AI SDK fits. */
export const SteeringMessage = v.object({
  /** Repeating the id sends nothing twice. */
  id: v.optional(MessageId),
  role: v.optional(v.literal('user', 'must be "user"')),
  parts: v.pipe(
    v.array(
      v.object({
        type: v.literal('text', 'must be "text": send files with the next message of the chat'),
        text: v.string(),
      }),
    ),
    v.minLength(1),
    v.maxLength(20),
  ),
});

/** A message as callers write it. */
export interface SteeringMessageInput {
  /** Names the message within its run, so that a repeated request sends it once; random when absent. */
  readonly id?: string | undefined;
  readonly role?: 'user' | undefined;
  readonly parts: readonly SteeringPart[];
}

/** A part of a message: text. */
export interface SteeringPart {
  readonly type: 'text';
  readonly text: string;
}

/** A checked message. */
export interface SteeringMessage {
  readonly id: string;
  readonly parts: readonly SteeringPart[];
}

/**
 * Parses a message from anywhere.
 *
 * @throws PinnaceError `invalid_argument` for another shape, for parts other than text, and for text that is blank or too long.
 */
export function parseSteeringMessage(data: unknown): SteeringMessage {
  const { id = crypto.randomUUID(), parts: given } = parse(SteeringMessage, readData(data), { what: 'the message' });
  const parts = given.filter(({ text }) => text.trim() !== '');
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  if (parts.length === 0) throw refused('its text is empty', 'message_empty');
  if (length > maxMessageLength) {
    throw refused(`its text is ${length} long, ${maxMessageLength} is allowed`, 'message_too_large');
  }
  return { id, parts };
}

/** @throws PinnaceError `conflict` when two different messages share an id. */
export function requireSameMessage(known: SteeringMessage, given: SteeringMessage): void {
  if (canonicalJson(known.parts) === canonicalJson(given.parts)) return;
  throw new PinnaceError('conflict', 'Cannot send the message: another message of this run has its id; use a new id', {
    retryable: false,
    details: { reason: 'message_id_reused' },
  });
}

/** The error for a message to a run that takes none any more. */
export function runEnded(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot send the message: the run has ended or waits for a person; send it as the next message of the chat',
    { retryable: false, details: { reason: 'run_ended' } },
  );
}

/** The error for a message to a run that follows a plan. */
export function runFollowsPlan(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot send the message: the run follows a plan; send it after the run',
    { retryable: false, details: { reason: 'run_follows_plan' } },
  );
}

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the message: ${why}`, { details: { reason } });
}
