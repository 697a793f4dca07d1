/** The stored records of the messages to a run. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ErrorData } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import type { SteeringMessage } from './message.ts';

/**
 * A message and what became of it. `requested`: an instance that does not execute the run has written it, and its owner has not read
 * it. `accepted`: it waits for the next step.
 */
export interface MessageRecord {
  readonly message: SteeringMessage;
  readonly state: 'requested' | 'accepted' | 'delivered' | 'undelivered' | 'refused';
  /** Why it was refused. */
  readonly error?: ErrorData;
}

/** The key of a message. */
export function messageKey(runId: string, messageId: string): Key {
  return [...messagesKey(runId), messageId];
}

/** The change that writes a record. */
export function recordChange(runId: string, record: MessageRecord, ttlMs: number): Change {
  return { key: messageKey(runId, record.message.id), value: record, ttlMs };
}

/** Reads a record, with its version. */
export async function readRecord(
  runId: string,
  messageId: string,
  storage: Pick<Storage, 'get'>,
): Promise<{ readonly record: MessageRecord; readonly version: string } | undefined> {
  const found = await storage.get(messageKey(runId, messageId));
  return found && { record: found.value as MessageRecord, version: found.version }; // only `recordChange` writes it
}

/** The messages that were accepted, and that no step has taken. */
export async function waitingMessages(runId: string, storage: Storage): Promise<readonly SteeringMessage[]> {
  const found = await storage.list({ prefix: messagesKey(runId), limit: 1000 });
  const records = found.map(({ value }) => value as MessageRecord); // as in `readRecord`
  return records.flatMap(({ message, state }) => state === 'accepted' ? [message] : []);
}

/** The chunk that shows a message where the model receives it. */
export function deliveredChunk({ id, parts }: SteeringMessage): UIMessageChunk {
  return { type: 'steering-message', id, parts: [...parts] };
}

/** The chunk that says that a message did not reach the model. */
export function undeliveredChunk({ id }: SteeringMessage): UIMessageChunk {
  return { type: 'data-steering', id, data: { messageId: id, state: 'undelivered' } };
}

function messagesKey(runId: string): Key {
  return ['run', runId, 'message'];
}
