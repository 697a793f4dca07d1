/** Errors of JSON-RPC. The SDKs send `code`, the message and `data` of a thrown error unchanged. */

import { type PinnaceError, toPinnaceError } from '../../../src/base/errors.ts';

/** Invalid params: also for what does not exist (MCP 2026-07-28). */
export const invalidParams = -32602;
const internalError = -32603;

/** An error with its code for the client. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The error of a request whose parameters are not as MCP describes them. The text of the library that says so is not passed on. */
export function malformedParams(method: string): RpcError {
  return new RpcError(invalidParams, `Invalid params: they are not as MCP describes those of ${method}`);
}

/** Returns the error that a client receives for what was thrown, with these facts. Only a `PinnaceError` has a text that clients may read. */
export function toRpcError(thrown: unknown, facts: Readonly<Record<string, unknown>>): RpcError {
  if (thrown instanceof RpcError) return thrown;
  const error = toPinnaceError(thrown);
  const isTheirs = error.code === 'not_found' || error.code === 'invalid_argument';
  return new RpcError(isTheirs ? invalidParams : internalError, error.message, { ...facts, ...factsOf(error) });
}

function factsOf({ code, retryable, retryAfterMs, details }: PinnaceError): Readonly<Record<string, unknown>> {
  const reason = details?.['reason'];
  return {
    code,
    retryable,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
