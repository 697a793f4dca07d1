/** Servers of 2025-11-25 that refuse a call until a person has opened URLs (error -32042). */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import type { McpInputResponses } from '../../src/contracts/mcp/answers.ts';

const urlElicitationRequired = -32_042;
const mostUrls = 6;

/** Returns the questions behind the error of a call, in the form of 2026-07-28. @throws the error, when it is another one. */
export function toUrlQuestions(error: unknown, questions: boolean): unknown {
  const { code, data } = error instanceof Error
    ? error as Error & { readonly code?: unknown; readonly data?: unknown }
    : {};
  const asked = code === urlElicitationRequired && isRecord(data) ? data['elicitations'] : undefined;
  if (!questions || !Array.isArray(asked)) throw error;
  const requests = asked.slice(0, mostUrls).map((one, i) => {
    const { message, url } = asRecord(one);
    return [`url-${i + 1}`, { method: 'elicitation/create', params: { mode: 'url', message, url } }] as const;
  });
  return { resultType: 'input_required', inputRequests: Object.fromEntries(requests) };
}

/** The call is made again, without the answers: the server knows that its URLs were opened. @throws PinnaceError for a refusal. */
export function requireOpened(responses: McpInputResponses | undefined): void {
  const answers = Object.values(responses?.inputResponses ?? {});
  if (answers.every(({ action }) => action === 'accept')) return;
  throw new PinnaceError('forbidden', 'Cannot call the tool: the person did not open what its MCP server asks for', {
    details: { reason: 'mcp_question_declined' },
  });
}
