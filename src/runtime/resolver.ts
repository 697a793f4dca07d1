/** From the agent's id to everything that its run needs, through the two-layer cache. */

import type { LanguageModel } from '../ai-types.ts';
import { type Cache, createCache, createSourceHealth } from '../cache.ts';
import { readCacheKey, requireCacheKeys } from '../cache-key.ts';
import { PinnaceError } from '../errors.ts';
import type { Emit } from '../events.ts';
import { createTraceId } from '../events.ts';
import { createInvalidations } from '../invalidations.ts';
import type { Metrics } from '../metrics.ts';
import type { Catalog, ModelSource, SecretScope, SecretSource, Storage } from '../ports.ts';
import { isRedactable } from '../redactor.ts';
import type { Agent, McpServer, Provider, SecretRef, ToolDefinition } from '../schema.ts';
import type { Secret } from '../secret.ts';
import { originOf, requireDestination } from '../secret-origins.ts';
import { type Place, within } from '../span.ts';
import { readAnswer, readToolsAnswer } from './catalog-answers.ts';
import { mergeTools } from './merge-tools.ts';
import type { SelectedServer } from './mcp-tools.ts';
import type { Principal } from './principal.ts';
import { createRecordCache, type RecordCache, requireOwn } from './record-cache.ts';

/** Where things are looked up. */
export interface ResolverOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  readonly secrets: SecretSource | undefined;
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly emit: Emit;
  readonly now: () => number;
  /** Called when these agents may have changed, here or elsewhere; without ids, all may have. */
  readonly onAgentsChanged: (agentIds?: readonly string[]) => void;
}

/** An agent that may run, with its model. */
export interface Resolved {
  readonly agent: Agent;
  readonly model: LanguageModel;
  /** The provider's secret, which the model sends. */
  readonly secret: Secret | undefined;
}

/** Resolves agents, and hears of what has changed. */
export interface Resolver {
  /**
   * Resolves the agent for a caller: the tenant's own, else the shared one. What it names is looked up where the agent is from: a
   * shared agent never gets a tenant's provider, tool or server.
   *
   * @throws PinnaceError `not_found` for an unknown agent or provider, `forbidden` for a disabled agent, whatever catalog, secret
   * source and model source throw.
   */
  resolve(agentId: string, caller: Caller, place?: Place): Promise<Resolved>;
  /** Forgets what was invalidated before now, wherever that was. Never rejects: what a storage that fails means, the claim says. */
  refresh(): Promise<void>;
  /** A tool's secret. @throws PinnaceError as the secret source does, `unavailable` when it does not answer in time. */
  readonly secret: (ref: SecretRef, scope: SecretScope, place?: Place) => Promise<Secret>;
  /** The agent alone, as its manifest needs it. An `internal` agent does not exist for a caller over HTTP. */
  agent(agentId: string, caller: Caller): Promise<Agent>;
  /** How often something was forgotten: what was resolved before may be out of date when the number has changed. */
  readonly forgotten: number;
  /** The definitions that are shared, and the tenant's own. The same array for as long as nothing has changed. */
  tools(tenant: string | undefined): Promise<readonly ToolDefinition[]>;
  /** The MCP servers that the agent selects, by their ids. The same objects for as long as nothing has changed. */
  servers(agent: Agent): Promise<readonly SelectedServer[]>;
  /**
   * Invalidates what these keys name, here and on every instance: `agent:<id>`, `provider:<id>`, `mcp-server:<id>`, `tools`,
   * `secrets`, or `*`. A key of one record names the shared one; with `@<tenant>` behind it, what is this tenant's own.
   */
  invalidate(keys: readonly string[]): Promise<void>;
  /** Hears of no more changes. */
  close(): void;
}

/** Who resolves. */
export type Caller = Pick<Principal, 'tenant' | 'via'>;

interface Caches {
  readonly agents: RecordCache<Agent>;
  readonly providers: RecordCache<Provider>;
  readonly tools: RecordCache<readonly ToolDefinition[]>;
  readonly servers: RecordCache<McpServer>;
  readonly secrets: Cache<Secret>;
}

/** Gives a resolver with empty caches. */
export function createResolver(options: ResolverOptions): Resolver {
  const caches = createCaches(options);
  const bulletin = createInvalidations(options.storage);
  const closing = new AbortController();
  let forgotten = 0;
  let subscribed = false;
  const hear = async (keys: readonly string[]): Promise<void> => {
    forgotten += 1;
    await forget(caches, keys).catch(() => undefined);
    tellAgents(keys, options.onAgentsChanged);
  };
  const subscribe = (): void => {
    if (subscribed) return;
    subscribed = true; // with the first use: a runtime that resolves nothing watches nothing
    bulletin.subscribe((keys) => void hear(keys), closing.signal);
  };
  const agent: Resolver['agent'] = async (agentId, caller) => {
    subscribe();
    return requireActive(await caches.agents.get(agentId, caller.tenant), caller);
  };
  return {
    agent,
    get forgotten() {
      return forgotten;
    },
    async refresh() {
      subscribe();
      await bulletin.refresh().catch(() => undefined);
    },
    async resolve(agentId, caller, place) {
      const found = await agent(agentId, caller);
      const provider = requireProvider(found, await caches.providers.get(found.providerId, found.tenant));
      const secret = await resolveSecret(found, provider, { tenant: caller.tenant, place, options, caches });
      return { agent: found, model: options.models.model(provider, secret), secret };
    },
    secret: (ref, scope, place) => getSecret({ ...scope, ref }, { place, options, caches }),
    async tools(tenant) {
      subscribe();
      const { tools } = caches;
      const [shared, own] = await Promise.all([tools.get('all', undefined), tools.own('all', tenant)]);
      return mergeTools(shared ?? [], own ?? []);
    },
    async servers({ mcp, tenant }) {
      subscribe();
      const ids = Object.keys(mcp).toSorted();
      return await Promise.all(ids.map(async (id) => ({ id, server: await caches.servers.get(id, tenant) })));
    },
    async invalidate(keys) {
      requireCacheKeys(keys);
      await forget(caches, keys);
      for (const id of keys) {
        options.emit({
          traceId: createTraceId(),
          actor: { type: 'system', id: 'resolver' },
          action: 'cache.invalidate',
          target: { type: 'cache', id },
          status: 'ok',
          latency: 0,
          error: null,
          payloadSummary: '',
        });
      }
      await bulletin.publish(keys);
    },
    close: () => closing.abort(),
  };
}

function createCaches({ catalog, secrets, storage, metrics, now, emit }: ResolverOptions): Caches {
  const warnIfShort = createShortSecretWarning(emit);
  const shared = catalog.source === undefined ? {} : { shared: { storage, source: catalog.source } };
  const common = { now, metrics };
  const health = createSourceHealth(now);
  const records = { ...common, ...shared, catalog, health };
  return {
    agents: createRecordCache({
      ...records,
      name: 'agent',
      load: async (from, id, { signal, tenant }) =>
        requireOwn(readAnswer('agent', id, await from.agent(id, signal)), tenant),
    }),
    providers: createRecordCache({
      ...records,
      name: 'provider',
      load: async (from, id, { signal, tenant }) =>
        requireOwn(readAnswer('provider', id, await from.provider(id, signal)), tenant),
    }),
    tools: createRecordCache({
      ...common,
      catalog,
      health,
      name: 'tools',
      load: (from, _, { signal, tenant }) => listTools(from, { signal, tenant }),
    }),
    servers: createRecordCache({
      ...records,
      name: 'mcp-server',
      load: async (from, id, { signal, tenant }) =>
        requireOwn(readAnswer('mcpServer', id, await from.mcpServer?.(id, signal)), tenant),
    }),
    // Never shared: values of secrets are not written anywhere.
    secrets: createCache({
      ...common,
      name: 'secret',
      load: async (id, signal) => warnIfShort(await loadSecret(secrets, id, signal), id),
      onStale: (id) => emit(secretEvent('secret.stale_used', id)),
    }),
  };
}

/** Every key is forgotten here before it returns; what it waits for is the shared layer. */
async function forget(caches: Caches, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.flatMap((key) => forgetKey(caches, key)));
}

function forgetKey({ agents, providers, tools, servers, secrets }: Caches, key: string): Promise<void>[] {
  const { kind, id, tenant } = readCacheKey(key);
  const all = kind === '*';
  return [
    ...(all || kind === 'agent' ? [agents.invalidate({ id, tenant })] : []),
    ...(all || kind === 'provider' ? [providers.invalidate({ id, tenant })] : []),
    ...(all || kind === 'tools' || kind === 'tool' ? [tools.invalidate({ tenant })] : []),
    ...(all || kind === 'mcp-server' ? [servers.invalidate({ id, tenant })] : []),
    ...(all || kind === 'secrets' || kind === 'secret' ? [secrets.invalidate(isSecretOf(tenant))] : []),
  ];
}

function isSecretOf(tenant: string | undefined): (secretId: string) => boolean {
  return (secretId) => tenant === undefined || (JSON.parse(secretId) as SecretId).tenant === tenant; // made by `getSecret` alone
}

function tellAgents(keys: readonly string[], tell: ResolverOptions['onAgentsChanged']): void {
  const named = keys.map(readCacheKey).filter(({ kind }) => kind === '*' || kind === 'agent');
  if (named.some(({ id }) => id === undefined)) tell();
  else if (named.length > 0) tell(named.flatMap(({ id }) => id ?? []));
}

function requireActive(agent: Agent | undefined, { via }: Caller): Agent {
  if (!agent || (agent.visibility === 'internal' && via === 'http')) {
    throw new PinnaceError('not_found', 'Cannot run the agent: no agent has this id', {
      details: { reason: 'agent_not_found' },
    });
  }
  if (agent.state === 'disabled' || agent.visibility === 'disabled') {
    throw new PinnaceError('forbidden', `Cannot run agent "${agent.id}": it is disabled`, {
      details: { reason: 'agent_disabled' },
    });
  }
  return agent;
}

function requireProvider(agent: Agent, provider: Provider | undefined): Provider {
  if (!provider) {
    throw new PinnaceError(
      'not_found',
      `Cannot run agent "${agent.id}": its provider "${agent.providerId}" is not in the catalog`,
      { details: { reason: 'provider_not_found' } },
    );
  }
  if (provider.state === 'disabled') {
    throw new PinnaceError('forbidden', `Cannot run agent "${agent.id}": its provider "${provider.id}" is disabled`, {
      details: { reason: 'provider_disabled' },
    });
  }
  return agent.model === undefined ? provider : { ...provider, model: agent.model };
}

/** Everything that decides which value is given: the cache must not hand one tenant's to another. */
interface SecretId extends SecretScope {
  readonly ref: SecretRef;
}

async function resolveSecret(
  agent: Agent,
  { id, baseUrl, secret: ref }: Provider,
  { tenant, ...means }: { readonly tenant: string } & SecretMeans,
): Promise<Secret | undefined> {
  if (!ref) return undefined;
  if (!means.options.secrets) {
    throw new PinnaceError(
      'unavailable',
      `Cannot run agent "${agent.id}": provider "${id}" needs a secret and the runtime has no secret source`,
      { retryable: false, details: { reason: 'no_secret_source' } },
    );
  }
  const origin = baseUrl === undefined ? undefined : originOf(baseUrl);
  const scope = { tenant, agentId: agent.id, ref, ...(origin !== undefined && { origin }) };
  return await getSecret(scope, means).catch((error: unknown) => {
    if (error instanceof PinnaceError && error.code === 'not_found') throw missingSecret({ id, ref, cause: error });
    throw error;
  });
}

/** The deployment lacks the secret: nothing that the caller asked for is missing. */
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

interface SecretMeans {
  readonly options: ResolverOptions;
  readonly caches: Caches;
  /** Where it is told of that a secret was given to somebody. */
  readonly place: Place | undefined;
}

async function getSecret(id: SecretId, means: SecretMeans): Promise<Secret> {
  const { ref, toolId } = id;
  const facts = { action: 'secret.resolve', target: { type: 'secret', id: ref.id }, payload: { tool: toolId } };
  return await within(means.place, facts, () => findSecret(id, means));
}

async function findSecret(id: SecretId, { options: { secrets }, caches }: SecretMeans): Promise<Secret> {
  const { ref } = id;
  const secret = secrets && await caches.secrets.get(JSON.stringify(id)).catch((error: unknown) => {
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

async function loadSecret(
  secrets: SecretSource | undefined,
  id: string,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  const { ref, ...scope } = JSON.parse(id) as SecretId; // made by `getSecret` alone
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

async function listTools(
  catalog: Catalog,
  { signal, tenant }: { readonly signal: AbortSignal; readonly tenant: string | undefined },
): Promise<readonly ToolDefinition[]> {
  const tools: ToolDefinition[] = [];
  const limit = 1000;
  for (let page: readonly ToolDefinition[] | undefined; page === undefined || page.length === limit;) {
    const after = page?.at(-1)?.id;
    page = readToolsAnswer(await catalog.listTools({ limit, ...(after !== undefined && { after }) }, signal));
    for (const tool of page) requireOwn(tool, tenant);
    tools.push(...page);
  }
  return tools;
}
