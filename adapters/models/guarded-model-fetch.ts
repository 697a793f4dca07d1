/** The `fetch` of a model's endpoint: over the guarded egress, to one origin, with the secret added last. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { PrivateOrigins } from '../../src/base/origins.ts';
import { Secret } from '../../src/base/secret.ts';

/** Where the endpoint is, and what reaches it. */
export interface GuardedModelFetchOptions {
  /** Sends the requests. */
  readonly egress: Egress;
  /** The base URL of the endpoint: its origin is the only one that is reached. */
  readonly baseUrl: string;
  /** Origins in private networks that the model may have. */
  readonly privateOrigins?: PrivateOrigins;
  /** Sent as a bearer token. */
  readonly secret?: Secret | undefined;
}

/** The longest answer of a model, in bytes as they are read. */
const maxBytes = 67_108_864;

/**
 * Creates a `fetch` for any model of the AI SDK, embedding models too. Bodies stay streams; times are the caller's. An endpoint that
 * does not answer rejects as `fetch` does; what the egress refuses rejects with its `PinnaceError`.
 *
 * @example
 * const fetch = guardedModelFetch({ egress: denoEgress(), baseUrl, secret });
 * const model = createOpenAICompatible({ name: 'acme', baseURL: baseUrl, fetch }).embeddingModel('embed-1');
 */
export function guardedModelFetch(
  options: GuardedModelFetchOptions,
): typeof fetch {
  checkNames('create the fetch function', options, optional('egress', 'baseUrl', 'privateOrigins', 'secret'));
  const { egress, baseUrl, privateOrigins = [], secret } = options;
  const { origin } = new URL(baseUrl);
  return async (input, init) => {
    const { signal } = init ?? {};
    try {
      return await egress.fetch(toRequest(input, init), {
        origins: [origin],
        privateOrigins,
        maxBytes,
        signal: signal ?? new AbortController().signal,
        redirects: 'refuse',
        limits: 'caller',
        ...(secret && { secretHeaders: { authorization: ['Bearer ', trimmed(secret)] } }),
      });
    } catch (error) {
      throw isUnreachable(error) ? new TypeError('fetch failed', { cause: error }) : error;
    }
  };
}

/** Without the signal, which the egress has already; a request listens to it for as long as it lives. */
function toRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  const { signal: _, ...rest } = init ?? {};
  return new Request(input, rest);
}

/** A key that was read from a file often ends with a line break. */
function trimmed(secret: Secret): Secret {
  const { id, version, origins } = secret;
  return new Secret({ id, version, origins, value: secret.reveal().trim() });
}

function isUnreachable(error: unknown): boolean {
  const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
  return reason === 'unreachable' || reason === 'host_not_found';
}
