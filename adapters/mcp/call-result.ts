/** Reads the results of requests. */

import { isRecord } from '../../src/base/is-record.ts';
import type { McpCallResult } from '../../src/contracts/mcp/mcp-connector.ts';
import { invalidAnswer } from './failures.ts';

/**
 * Returns the parts of a result that a run reads, unchanged.
 *
 * @throws PinnaceError `unavailable` for anything else, such as a question where no person can answer.
 */
export function readCallResult(data: unknown, { questions }: { readonly questions: boolean }): McpCallResult {
  const { inputRequests, requestState } = (data ?? {}) as Readonly<Record<string, unknown>>;
  const { content = [], structuredContent, isError, resultType } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (resultType === 'input_required' && questions) {
    if (requestState !== undefined && typeof requestState !== 'string') throw invalidAnswer('its state is no text');
    const inputRequired = { inputRequests, ...(requestState !== undefined && { requestState }) };
    return { content: [], isError: false, inputRequired };
  }
  if (resultType !== undefined && resultType !== 'complete') {
    throw invalidAnswer('the tool asks for something, and this client has declared to answer nothing');
  }
  if (data === null || typeof data !== 'object' || !('content' in data || 'structuredContent' in data)) {
    throw invalidAnswer('its result has no content');
  }
  if (!Array.isArray(content)) throw invalidAnswer('the content of its result is no list');
  return { content, isError: isError === true, ...(structuredContent !== undefined && { structuredContent }) };
}

/**
 * Returns the result of a request that only reads.
 *
 * @throws PinnaceError `unavailable` for one that is not complete: what is only read asks no person.
 */
export function readResult(data: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(data)) throw invalidAnswer('its result is no object');
  const { resultType } = data;
  if (resultType === undefined || resultType === 'complete') return data;
  throw invalidAnswer('it asks for something before it answers, which only calls of tools may do');
}
