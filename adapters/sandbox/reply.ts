/** Reads the reply of a sandbox. The reply is untrusted: the code may have sent it instead of the prelude. */

import { type ErrorCode, PinnaceError } from '../../src/base/errors.ts';

/**
 * Returns the output of a reply. The error of code that threw has the line and the column if they are known.
 *
 * @throws PinnaceError for a reply that reports a failure, is too long or malformed.
 */
export function readReply(data: unknown, { maxOutputLength, linesBefore }: ReplyOptions): unknown {
  const { ok, output, reason, text, at } = parseReply(data, maxOutputLength);
  if (ok === true) return output;
  if (reason === 'not_isolated') throw failed('unavailable', 'this platform does not isolate it', { reason });
  if (reason === 'invalid_code') throw invalidCode('it is not the body of an async function');
  if (reason === 'diverged') throw diverged();
  if (reason === 'bridge_abused') throw failed('budget_exceeded', 'it wrote a handle itself: "$handle"', { reason });
  if (reason === 'output_too_large') throw failed('budget_exceeded', 'its output is too long', { reason });
  if (reason === 'output_not_json') throw failed('internal', 'its output is not JSON', { reason });
  throw failed('internal', 'it threw an error', {
    reason: 'code_failed',
    text: typeof text === 'string' ? text : undefined,
    ...placeOf(at, linesBefore),
  });
}

/** Options of {@link readReply}. */
export interface ReplyOptions {
  readonly maxOutputLength: number;
  /** The number of lines before the code in its module. */
  readonly linesBefore: number;
}

/** Both start at 1, in the author's code. */
function placeOf(at: unknown, linesBefore: number): { readonly line?: number; readonly column?: number } {
  if (!Array.isArray(at)) return {};
  const [written, column] = at as readonly unknown[];
  if (!Number.isSafeInteger(written) || !Number.isSafeInteger(column)) return {};
  const line = Number(written) - linesBefore;
  return line > 0 ? { line, column: Number(column) } : {};
}

interface Reply {
  readonly ok?: unknown;
  readonly output?: unknown;
  readonly reason?: unknown;
  readonly text?: unknown;
  readonly at?: unknown;
}

/** The maximum length of the text around the output. */
const frameLength = 1024;

function parseReply(data: unknown, maxOutputLength: number): Reply {
  if (typeof data !== 'string') return {};
  if (data.length > maxOutputLength + frameLength) return { reason: 'output_too_large' };
  try {
    const reply: unknown = JSON.parse(data, withoutPrototype);
    return typeof reply === 'object' && reply !== null ? reply : {};
  } catch {
    return { reason: 'output_not_json' };
  }
}

/** A key with this name changes the object that it is copied into. */
function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}

/** The error of code that is rejected before it runs. */
export function invalidCode(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot run the code: ${why}`, { details: { reason: 'invalid_code' } });
}

function failed(
  code: ErrorCode,
  why: string,
  { text, ...details }: { readonly reason: string; readonly text?: string | undefined },
): PinnaceError {
  return new PinnaceError(code, `Cannot use the code: ${why}`, {
    retryable: false,
    details,
    ...(text !== undefined && { cause: new Error(text) }),
  });
}

function diverged(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot go on with the program: it did not make the calls that it made before', {
    retryable: false,
    details: { reason: 'program_diverged' },
  });
}
