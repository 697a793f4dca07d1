/** Secrets from a secret manager, over HTTP. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { SecretScope, SecretSource } from '../../src/contracts/egress.ts';
import type { SecretRef } from '../../src/base/schema.ts';
import { Secret } from '../../src/base/secret.ts';
import { isDestination, requireDestination, secretOrigins, type UnboundSecrets } from '../../src/base/origins.ts';
import { baseOf, segmentOf } from '../remote/address.ts';
import { type HeaderRecord, invalidAnswer, type Remote, type Reply, requestJson } from '../remote/request-json.ts';
import { guardedSend, type GuardedSendOptions } from '../remote/guarded-send.ts';

export type { SecretSource } from '../../src/contracts/egress.ts';

/** The address of the secret manager, and how to call it. */
export interface HttpSecretsOptions extends GuardedSendOptions, UnboundSecrets {
  /** The URL before the id: http or https, without user name, password, query and fragment. */
  readonly url: string | URL;
  /** By secret id, the origins that may receive it, for a secret manager that does not say; these count more than its answer. */
  readonly origins?: Readonly<Record<string, readonly string[]>>;
  /** Called before each request with the caller and the secret, so that the secret manager can distinguish tenants. */
  readonly headers?: (scope: SecretScope) => Promise<HeaderRecord> | HeaderRecord;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

const maxBytes = 64 * 1024;

/**
 * Creates a source that calls `GET {url}/{id}?version={version}`, which answers
 * `{ "value": "…", "version": "…", "origins": ["https://…"] }`; without a version in the reference, the latest. Nothing is cached,
 * and no redirect is followed.
 *
 * 401 and 403 are `forbidden`, 404 is `not_found`, everything else `unavailable`; an answer that is not as agreed has the reason
 * `secrets_invalid`. No error holds a header, a body or any part of a value.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_url`, `invalid_secret_origin` or `invalid_private_origin`.
 * @example
 * const secrets = httpSecrets({ url: 'https://secrets.example/v1', headers: ({ tenant }) => tokenOf(tenant) });
 */
export function httpSecrets(options: HttpSecretsOptions): SecretSource {
  checkNames(
    'create the source of secrets',
    options,
    optional('url', 'headers', 'now', 'origins', 'unboundSecrets', 'egress', 'privateOrigins', 'fetch'),
  );
  const { url, headers = () => ({}), now = Date.now, origins = {}, unboundSecrets } = options;
  const base = baseOf(url, 'the secret manager');
  const fetch = guardedSend(options, base);
  const remote: Remote = { name: 'secret manager', kind: 'secrets', maxBytes, fetch, now };
  for (const [id, declared] of Object.entries(origins)) secretOrigins(id, declared);
  const boundBy = (id: string): readonly string[] | undefined => Object.hasOwn(origins, id) ? origins[id] : undefined;
  return {
    async resolve(ref, { scope, signal }) {
      const what = `secret ${JSON.stringify(ref.id)}`;
      const segment = segmentOf(ref.id);
      if (segment === undefined) throw missing(what); // no secret can have this id
      const query = ref.version === undefined ? '' : `?${new URLSearchParams({ version: ref.version })}`;
      const question = { url: `${base}/${segment}${query}`, what, headers: () => headers(scope), signal };
      const request = { ref, what, bound: boundBy(ref.id), unboundSecrets };
      return requireDestination(readReply(remote, await requestJson(remote, question), request), scope.origin);
    },
  };
}

interface SecretRequest extends UnboundSecrets {
  /** What the composition declares. */
  readonly bound: readonly string[] | undefined;
  readonly ref: SecretRef;
  readonly what: string;
}

function readReply(remote: Remote, reply: Reply, request: SecretRequest): Secret {
  switch (reply.type) {
    case 'found':
      return readSecret(remote, reply.data, request);
    case 'missing':
      throw missing(request.what);
    case 'denied':
      throw new PinnaceError('forbidden', `Cannot load ${request.what}: the secret manager denies it`);
    case 'busy':
      throw new PinnaceError(
        'unavailable',
        `Cannot load ${request.what}: the secret manager takes no more requests for now`,
        {
          details: { reason: 'secrets_rate_limited' },
          ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs }),
        },
      );
    case 'unchanged':
      throw invalidAnswer(remote, { what: request.what, why: 'that nothing has changed, which was not asked' });
    default:
      return reply satisfies never;
  }
}

/** Checked by hand: an error of a schema could name a key of the answer, which is anything. */
function readSecret(remote: Remote, data: unknown, { ref, what, bound, unboundSecrets }: SecretRequest): Secret {
  const { value, version, origins }: Answer = typeof data === 'object' && data !== null ? data : {};
  if (typeof value !== 'string' || value === '') throw invalidAnswer(remote, { what, why: 'without a "value"' });
  if (typeof version !== 'string' || version === '') throw invalidAnswer(remote, { what, why: 'without a "version"' });
  if (ref.version !== undefined && ref.version !== version) {
    throw invalidAnswer(remote, { what, why: 'another version than it was asked for' });
  }
  const declared = bound ?? readOrigins(remote, origins, what);
  return new Secret({ id: ref.id, version, value, origins: secretOrigins(ref.id, declared, { unboundSecrets }) });
}

interface Answer {
  readonly value?: unknown;
  readonly version?: unknown;
  readonly origins?: unknown;
}

function readOrigins(remote: Remote, origins: unknown, what: string): readonly string[] | undefined {
  if (origins === undefined || origins === null) return undefined;
  const isList = Array.isArray(origins) &&
    origins.every((one: unknown) => typeof one === 'string' && isDestination(one));
  if (!isList) throw invalidAnswer(remote, { what, why: '"origins" that are not a list of origins' });
  return origins as readonly string[]; // safe: each was checked
}

function missing(what: string): PinnaceError {
  return new PinnaceError('not_found', `Cannot load ${what}: the secret manager does not have it`);
}
