/** Does one thing with an MCP server in its time, and says in our own words why it could not be done. */

import { PinnaceError } from '../../src/base/errors.ts';
import { createDeadline } from '../egress/deadline.ts';
import { invalidAnswer, protocolUnsupported, rpcError } from './failures.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** Whatever ends the work. */
export interface Terms {
  readonly signals: readonly AbortSignal[];
  readonly timeoutMs: number;
}

/**
 * Does the work, and lets go of it when it is over.
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

/** What an error is read with. */
export interface Asked {
  /** What was asked, as MCP calls it. */
  readonly method: string;
  readonly faultBehind: McpFetch['faultBehind'];
}

/**
 * Does what a library does. Its errors quote the server: they are read for their kind, and dropped.
 *
 * @throws PinnaceError only; see `McpConnector`.
 */
export async function inOurWords<T>(asked: Asked, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error, asked);
  }
}

function toFailure(error: unknown, { method, faultBehind }: Asked): PinnaceError {
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
