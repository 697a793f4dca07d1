/** Parses the messages of an MCP server: JSON-RPC of a bounded depth. */

import { PinnaceError } from '../../src/base/errors.ts';
import { checkJsonDepth } from '../../src/base/json.ts';
import { invalidAnswer } from './failures.ts';

/** A JSON-RPC message of any kind. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * Returns the messages in a text: one, or those of a batch.
 *
 * @throws PinnaceError `unavailable` with the reason `mcp_invalid_answer`.
 */
export function readMessages(text: string): readonly Message[] {
  try {
    checkJsonDepth(text);
    const data: unknown = JSON.parse(text);
    return (Array.isArray(data) ? data : [data]).filter(isMessage);
  } catch (error) {
    throw invalidAnswer(error instanceof PinnaceError ? 'its answer is nested too deep' : 'its answer is not JSON');
  }
}

function isMessage(data: unknown): data is Message {
  return typeof data === 'object' && data !== null;
}

/** Whether a message is the response to the request with this id. An error may have no id. */
export function answers(message: Message, id: unknown): boolean {
  if (message.method !== undefined) return false;
  if (message.error !== undefined) return message.id === id || message.id === null || message.id === undefined;
  return message.id === id && message.result !== undefined;
}

/** Returns the code of a JSON-RPC error, where it is one. */
export function errorCodeOf({ error }: Message): number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return Number.isSafeInteger(error.code) ? Number(error.code) : undefined;
}
