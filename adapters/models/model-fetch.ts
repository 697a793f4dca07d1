/** Requests to a model endpoint as they must be: without the header that is the page's own, and with an answer that is a stream. */

import { PinnaceError } from '../../src/base/errors.ts';

/** What a server answers that is no model: a page of its own, or one document. */
const notStreams = /^(text\/html|application\/xhtml\+xml|(application|text)\/([a-z0-9.-]+\+)?(json|xml))$/;

/**
 * Wraps `fetch` for a model. It removes the `user-agent` header that the AI SDK adds, because browsers that send it make strict
 * preflights fail; one among `headers` is sent as it is. An answer with status 2xx that cannot be a stream of events rejects with
 * `provider_invalid_response`.
 */
export function modelFetch(
  inner: typeof fetch = (...args) => fetch(...args),
  own: Readonly<Record<string, string>> = {},
): typeof fetch {
  const userAgent = new Headers(own).get('user-agent');
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (userAgent === null) headers.delete('user-agent');
    else headers.set('user-agent', userAgent);
    const response = await inner(input, { ...init, headers });
    const [type = ''] = (response.headers.get('content-type') ?? '').toLowerCase().split(';');
    if (!response.ok || !notStreams.test(type.trim())) return response;
    void response.body?.cancel().catch(() => undefined);
    throw new PinnaceError(
      'unavailable',
      `The model endpoint answered ${type.trim()} instead of a stream of events: check its base URL`,
      { retryable: false, details: { reason: 'provider_invalid_response' } },
    );
  };
}
