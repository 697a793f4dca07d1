/** Secrets from a secret manager, over HTTP. */

import { PinnaceError } from '../../src/errors.ts';
import type { SecretScope, SecretSource } from '../../src/ports.ts';
import type { SecretRef } from '../../src/schema.ts';
import { Secret } from '../../src/secret.ts';
import { baseOf, segmentOf } from '../remote/address.ts';
import { ask, type HeaderRecord, invalidAnswer, type Remote, type Reply } from '../remote/ask.ts';

/** Where the secret manager is, and how to ask it. */
export interface HttpSecretsOptions {
  /** What stands before the id: http or https, without user name, password, query and fragment. */
  readonly url: string | URL;
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Asked before each request, with who asks and for what: a secret manager that knows tenants can tell them apart. */
  readonly headers?: (scope: SecretScope) => Promise<HeaderRecord> | HeaderRecord;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

const maxBytes = 64 * 1024;

/**
 * Gives a source that asks `GET {url}/{id}?version={version}`, which answers `{ "value": "…", "version": "…" }`; without a version
 * in the reference, the latest. Nothing is cached, and no redirect is followed.
 *
 * 401 and 403 are `forbidden`, 404 is `not_found`, everything else `unavailable`; an answer that is not as agreed has the reason
 * `secrets_invalid`. No error holds a header, a body or any part of a value.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_url`.
 * @example
 * const secrets = httpSecrets({ url: 'https://secrets.example/v1', headers: ({ tenant }) => tokenOf(tenant) });
 */
export function httpSecrets(options: HttpSecretsOptions): SecretSource {
  const { url, fetch = (request) => globalThis.fetch(request), headers = () => ({}), now = Date.now } = options;
  const base = baseOf(url, 'the secret manager');
  const remote: Remote = { name: 'secret manager', kind: 'secrets', maxBytes, fetch, now };
  return {
    async resolve(ref, { scope, signal }) {
      const what = `secret ${JSON.stringify(ref.id)}`;
      const segment = segmentOf(ref.id);
      if (segment === undefined) throw missing(what); // no secret can have this id
      const query = ref.version === undefined ? '' : `?${new URLSearchParams({ version: ref.version })}`;
      const question = { url: `${base}/${segment}${query}`, what, headers: () => headers(scope), signal };
      return readReply(remote, await ask(remote, question), { ref, what });
    },
  };
}

interface Asked {
  readonly ref: SecretRef;
  readonly what: string;
}

function readReply(remote: Remote, reply: Reply, asked: Asked): Secret {
  switch (reply.type) {
    case 'found':
      return readSecret(remote, reply.data, asked);
    case 'missing':
      throw missing(asked.what);
    case 'denied':
      throw new PinnaceError('forbidden', `Cannot load ${asked.what}: the secret manager denies it`);
    case 'busy':
      throw new PinnaceError(
        'unavailable',
        `Cannot load ${asked.what}: the secret manager takes no more requests for now`,
        {
          details: { reason: 'secrets_rate_limited' },
          ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs }),
        },
      );
    case 'unchanged':
      throw invalidAnswer(remote, { what: asked.what, why: 'that nothing has changed, which was not asked' });
    default:
      return reply satisfies never;
  }
}

/** Checked by hand: an error of a schema could name a key of the answer, which is anything. */
function readSecret(remote: Remote, data: unknown, { ref, what }: Asked): Secret {
  const { value, version }: { value?: unknown; version?: unknown } = typeof data === 'object' && data !== null
    ? data
    : {};
  if (typeof value !== 'string' || value === '') throw invalidAnswer(remote, { what, why: 'without a "value"' });
  if (typeof version !== 'string' || version === '') throw invalidAnswer(remote, { what, why: 'without a "version"' });
  if (ref.version !== undefined && ref.version !== version) {
    throw invalidAnswer(remote, { what, why: 'another version than it was asked for' });
  }
  return new Secret({ id: ref.id, version, value });
}

function missing(what: string): PinnaceError {
  return new PinnaceError('not_found', `Cannot load ${what}: the secret manager does not have it`);
}
