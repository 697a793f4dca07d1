/** Requests to a model endpoint as they must be, and its answers as the AI SDK reads them. */

import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { readAnswer } from './model-answer.ts';
import { mayRemove, refusedParameter, withoutParameters } from './refused-parameters.ts';

export interface ModelFetchOptions {
  /** Sends the requests; the global `fetch` when absent. */
  readonly fetch?: typeof fetch | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The parameters that the server does not take. Those that it refuses are added. */
  readonly refused?: Set<string>;
}

/** The most parameters that are left out of one request after refusals. */
const mostRefusals = 4;
/** The most of an error that is looked at, in UTF-16 code units. */
const longestError = 65_536;

/**
 * Wraps `fetch` for a model. It removes the `user-agent` header that the AI SDK adds, because browsers that send it make strict
 * preflights fail; one among `headers` is sent as it is. A request that the server refuses because of a parameter that means nothing
 * to the caller is sent again without it, and later requests leave it out.
 */
export function modelFetch(options: ModelFetchOptions = {}): typeof fetch {
  const { fetch: inner = (...args) => fetch(...args), headers: own = {}, refused = new Set() } = options;
  const userAgent = new Headers(own).get('user-agent');
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (userAgent === null) headers.delete('user-agent');
    else headers.set('user-agent', userAgent);
    for (let tries = 0;; tries++) {
      const body = withoutRefused(init?.body, refused);
      const response = await inner(input, { ...init, headers, ...(body !== undefined && { body }) });
      if (response.ok) return isStreamed(init?.body) ? await readAnswer(response) : response;
      if (response.status !== 400 && response.status !== 422) return response;
      const error = (await response.text()).slice(0, longestError);
      const request = parsedBody(body);
      const name = refusedParameter(error, request);
      if (name !== undefined && !refused.has(name) && mayRemove(name, request) && tries < mostRefusals) {
        refused.add(name);
      } else {
        const status = failedCall.test(error) ? 500 : response.status;
        return new Response(error, { status, headers: response.headers });
      }
    }
  };
}

/** A call that the server could not read is its model's failure, and no fault of the request: another try may succeed. */
const failedCall = /"code":\s*"tool_use_failed"/;

/** By its last fields: a long chat is not parsed for it. */
function isStreamed(body: RequestInit['body']): boolean {
  return typeof body === 'string' && /"stream":true(?:,"stream_options":\{[^{}]*\})?\}$/.test(body.slice(-100));
}

function withoutRefused(body: RequestInit['body'], refused: ReadonlySet<string>): RequestInit['body'] {
  if (refused.size === 0 || typeof body !== 'string') return body;
  return JSON.stringify(withoutParameters(parsedBody(body), refused));
}

function parsedBody(body: RequestInit['body']): Readonly<Record<string, unknown>> {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : {}; // the AI SDK's own text
  return isRecord(value) ? value : asRecord(undefined);
}
