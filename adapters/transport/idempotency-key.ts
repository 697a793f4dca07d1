/** The `Idempotency-Key` header: a quoted string (RFC 8941), as the IETF draft requires. */

import { isInnerList, type Item, parseItem } from 'structured-headers';
import { PinnaceError } from '../../src/base/errors.ts';

/** The fewest and most characters that a key may have. */
export const idempotencyKeyLength = { min: 16, max: 255 } as const;

/** Room for every character escaped, and the quotes. */
const longestHeader = 2 * idempotencyKeyLength.max + 2;

/**
 * Returns the key without its quotes.
 *
 * @throws PinnaceError with status 400: `idempotency_key_missing`, or `idempotency_key_malformed` for anything other than one
 * string of 16 to 255 characters without parameters.
 */
export function parseIdempotencyKey(header: string | null): string {
  if (header === null) {
    const advice =
      'send a header such as Idempotency-Key: "turn-17-of-chat-c1", or use POST /v1/agents/<id>/chat for useChat';
    throw new PinnaceError('idempotency_key_missing', `Cannot start: ${advice}`);
  }
  const key = header.length > longestHeader ? undefined : readString(header);
  if (key === undefined || key.length < idempotencyKeyLength.min || key.length > idempotencyKeyLength.max) {
    const right = `a quoted string of ${idempotencyKeyLength.min} to ${idempotencyKeyLength.max} characters`;
    throw new PinnaceError('idempotency_key_malformed', `Cannot read the Idempotency-Key: send ${right}`);
  }
  return key;
}

function readString(header: string): string | undefined {
  const item = readItem(header);
  if (item === undefined || isInnerList(item)) return undefined;
  const [value, parameters] = item;
  return typeof value === 'string' && parameters.size === 0 ? value : undefined;
}

function readItem(header: string): Item | undefined {
  try {
    return parseItem(header);
  } catch {
    return undefined;
  }
}
