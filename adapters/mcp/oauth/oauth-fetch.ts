/** The `fetch` of the OAuth functions of the MCP library: over the guarded egress, to one origin, without redirects. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import { readText } from '../../../src/base/read-text.ts';
import type { Egress } from '../../../src/contracts/egress.ts';

/** Where the requests may go. */
export interface OAuthFetchOptions {
  readonly egress: Egress;
  readonly origin: string;
  readonly signal: AbortSignal;
}

const maxBytes = 65_536;
const timeoutMs = 10_000;

/** Creates the `fetch`. */
export function createOAuthFetch(
  { egress, origin, signal }: OAuthFetchOptions,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, { method = 'GET', headers: given, body } = {}) => {
    const headers = new Headers(given);
    headers.delete('mcp-protocol-version'); // the library sends it to discovery, where pages would need a preflight for it
    const request = new Request(url, {
      method,
      headers,
      ...(body instanceof URLSearchParams || typeof body === 'string' ? { body } : {}),
    });
    try {
      const terms = { origins: [origin], maxBytes, timeoutMs, redirects: 'refuse', signal } as const;
      return await withoutNulls(await egress.fetch(request, terms));
    } catch (error) {
      // Metadata has several places, and a page may be kept from one of them: the library then tries the next.
      if (method === 'GET' && isUnreachable(error)) throw new TypeError('unreachable', { cause: error });
      throw error;
    }
  };
}

/** Some servers write `null` for what they do not say, which the library refuses. What is no JSON it reads, and refuses, itself. */
async function withoutNulls(answer: Response): Promise<Response> {
  if (!answer.ok || answer.body === null) return answer;
  const text = await readText(answer.body);
  const init = { status: answer.status, headers: answer.headers };
  try {
    const data: unknown = JSON.parse(text);
    if (!isRecord(data)) return new Response(text, init);
    return new Response(
      JSON.stringify(Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))),
      init,
    );
  } catch {
    return new Response(text, init);
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'unreachable';
}
