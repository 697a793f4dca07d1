/** The secrets of providers and tools, through a cache in memory. */

import { type Cache, createCache } from '../log/cache.ts';
import type { CacheKey } from '../log/cache-key.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Emit } from '../events/events.ts';
import { createTraceId } from '../events/trace-ids.ts';
import type { Metrics } from '../base/metrics.ts';
import type { SecretScope, SecretSource } from '../contracts/egress.ts';
import { isRedactable } from '../permission/redaction/redactor.ts';
import type { Agent, Provider, SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import { originOf, requireDestination } from '../base/origins.ts';
import { type SpanContext, within } from '../events/span.ts';

/** What secrets are looked up with. */
export interface SecretLookupOptions {
  readonly secrets: SecretSource | undefined;
  readonly metrics: Metrics;
  readonly emit: Emit;
  readonly now: () => number;
}

/** Looks secrets up. Each lookup emits a span at its place. */
export interface SecretLookup {
  /** @throws PinnaceError as the secret source does, `unavailable` when it does not answer in time. */
  get(ref: SecretRef, scope: SecretScope, spanContext?: SpanContext): Promise<Secret>;
  /** The secret that the agent's provider needs. @throws PinnaceError as `get`, `unavailable` when the deployment lacks it. */
  ofProvider(
    provider: Provider,
    caller: { readonly agent: Agent; readonly tenant: string; readonly spanContext: SpanContext | undefined },
  ): Promise<Secret | undefined>;
  /** Removes the secrets that a key names. */
  invalidate(key: CacheKey): void;
}

/** Everything that decides which value is given: the cache must not hand one tenant's to another. */
interface SecretId extends SecretScope {
  readonly ref: SecretRef;
}

/** Creates a lookup with an empty cache. */
export function createSecretLookup({ secrets, metrics, emit, now }: SecretLookupOptions): SecretLookup {
  const warnIfShort = createShortSecretWarning(emit);
  // Never shared: values of secrets are not written anywhere.
  const cache: Cache<Secret> = createCache({
    name: 'secret',
    now,
    metrics,
    load: async (id, signal) => warnIfShort(await loadSecret(secrets, id, signal), id),
    onStale: (id) => emit(secretEvent('secret.stale_used', id)),
  });
  const get: SecretLookup['get'] = async (ref, scope, spanContext) => {
    const facts = { action: 'secret.resolve', target: { type: 'secret', id: ref.id }, payload: { tool: scope.toolId } };
    return await within(spanContext, facts, () => findSecret(secrets && cache, { ...scope, ref }));
  };
  return {
    get,
    async ofProvider({ id, baseUrl, secret: ref }, { agent, tenant, spanContext }) {
      if (!ref) return undefined;
      if (!secrets) {
        throw new PinnaceError(
          'unavailable',
          `Cannot run agent "${agent.id}": provider "${id}" needs a secret and the runtime has no secret source`,
          { retryable: false, details: { reason: 'no_secret_source' } },
        );
      }
      const origin = baseUrl === undefined ? undefined : originOf(baseUrl);
      const scope = { tenant, agentId: agent.id, ref, ...(origin !== undefined && { origin }) };
      return await get(ref, scope, spanContext).catch((error: unknown) => {
        if (error instanceof PinnaceError && error.code === 'not_found') throw missingSecret({ id, ref, cause: error });
        throw error;
      });
    },
    invalidate({ kind, tenant }) {
      if (kind === '*' || kind === 'secrets' || kind === 'secret') cache.invalidate(isSecretOf(tenant));
    },
  };
}

function isSecretOf(tenant: string | undefined): (secretId: string) => boolean {
  return (secretId) => tenant === undefined || (JSON.parse(secretId) as SecretId).tenant === tenant; // made by `get` alone
}

async function findSecret(cache: Cache<Secret> | undefined, id: SecretId): Promise<Secret> {
  const { ref } = id;
  const secret = await cache?.get(JSON.stringify(id)).catch((error: unknown) => {
    if (!(error instanceof PinnaceError) || error.code !== 'deadline_exceeded') throw error;
    throw new PinnaceError('unavailable', `Secret "${ref.id}" did not come in time`, {
      cause: error,
      details: { reason: 'secret_unavailable' },
    });
  });
  if (secret) return secret;
  throw new PinnaceError('unavailable', `Secret "${ref.id}" cannot be had: the runtime has no secret source`, {
    retryable: false,
    details: { reason: 'no_secret_source' },
  });
}

/** The deployment lacks the secret: not a `not_found` of the caller's request. */
function missingSecret(
  { id, ref, cause }: { readonly id: string; readonly ref: SecretRef; readonly cause: unknown },
): PinnaceError {
  return new PinnaceError(
    'unavailable',
    `Cannot use provider "${id}": its secret "${ref.id}" is not set in this deployment`,
    {
      cause,
      retryable: false,
      details: { reason: 'secret_not_found', secret: ref.id, provider: id },
    },
  );
}

async function loadSecret(
  secrets: SecretSource | undefined,
  id: string,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  const { ref, ...scope } = JSON.parse(id) as SecretId; // made by `get` alone
  const secret = await secrets?.resolve(ref, { scope, signal });
  return secret && requireDestination(secret, scope.origin); // whatever the source has looked at
}

/** Emits one event for each id whose value redaction leaves in texts, never the value or its length. */
function createShortSecretWarning(emit: Emit): (secret: Secret | undefined, id: string) => Secret | undefined {
  const warned = new Set<string>();
  return (secret, id) => {
    const { ref } = JSON.parse(id) as SecretId; // as above
    if (secret && !warned.has(ref.id) && !isRedactable(secret.reveal())) {
      warned.add(ref.id);
      emit(secretEvent('secret.too_short_to_redact', id));
    }
    return secret;
  };
}

function secretEvent(action: string, id: string): Parameters<Emit>[0] {
  const { agentId, ref } = JSON.parse(id) as SecretId; // as above
  return {
    traceId: createTraceId(),
    actor: { type: 'agent', id: agentId },
    action,
    target: { type: 'secret', id: ref.id },
    status: 'ok',
    latency: 0,
    error: null,
    payloadSummary: '',
  };
}
