/** Runs one operation with an MCP server within its time, and maps its errors to ours. */

import { PinnaceError } from '../../src/base/errors.ts';
import { createDeadline } from '../egress/deadline.ts';
import { invalidAnswer, protocolUnsupported, rpcError } from './failures.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** What ends the work. */
export interface Terms {
  readonly signals: readonly AbortSignal[];
  readonly timeoutMs: number;
}

/**
 * Runs the work, and releases its timer and signal afterwards.
 *
 * @throws PinnaceError `cancelled` or `deadline_exceeded`, or what the work throws.
 */
export async function within<T>({ signals, timeoutMs }: Terms, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = createDeadline({ signal: AbortSignal.any([...signals]), timeoutMs });
  try {
    deadline.signal.throwIfAborted();
    return await deadline.race(work(deadline.signal));
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw error;
  } finally {
    deadline.release();
  }
}

/** What mapping an error depends on. */
export interface Attempt {
  /** The MCP method of the request. */
  readonly method: string;
  readonly faultBehind: McpFetch['faultBehind'];
}

/**
 * Runs work of a library. Its errors quote the server, so they are mapped by kind and dropped.
 *
 * @throws PinnaceError only; see `McpConnector`.
 */
export async function inOurWords<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error, attempt);
  }
}

function toFailure(error: unknown, { method, faultBehind }: Attempt): PinnaceError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const known = cause instanceof PinnaceError ? cause : faultBehind('data' in cause ? cause.data : undefined);
    if (known !== undefined) return known;
  }
  const { code, message = '' } = error instanceof Error ? error as Error & { readonly code?: unknown } : {};
  if (typeof code === 'number') return rpcError(code, method);
  const isAboutVersions = code === 'ERA_NEGOTIATION_FAILED' || message.includes('protocol version is not supported');
  if (method === 'initialize' && isAboutVersions) return protocolUnsupported();
  return invalidAnswer('its answer is not what the protocol says');
}
