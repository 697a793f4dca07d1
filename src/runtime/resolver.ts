/** From the agent's id to everything that its run needs, through the two-layer cache. */

import { adaptModel, type FallbackModel, type ResolvedModel, withProviderRules } from './provider-model.ts';
import { createInvalidations, readCacheKey } from '../log/cache-key.ts';
import { narrowEgress } from '../base/origins.ts';
import { PinnaceError } from '../base/errors.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { SecretScope } from '../contracts/egress.ts';
import type { Change } from '../contracts/storage.ts';
import type { Agent, Fallback, Provider, SecretRef, ToolDefinition } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { SpanContext } from '../events/span.ts';
import { highestTrust, type Trust } from '../permission/label.ts';
import type { AgentCode, CodeAgent } from './code-agent.ts';
import {
  type CatalogCaches,
  type CatalogCachesOptions,
  createCatalogCaches,
  createInvalidationFeed,
} from './catalog-caches.ts';
import type { SelectedServer } from './tool-sets.ts';
import type { Principal } from '../base/principal.ts';
import { createSecretLookup, type SecretLookup, type SecretLookupOptions } from './secret-lookup.ts';
import { defaultContextTokens } from './estimate-prompt.ts';

/** Where things are looked up. */
interface ResolverOptions extends SecretLookupOptions, Omit<CatalogCachesOptions, 'position'> {
  /** Agents composed in code, by their ids; each replaces a shared record of its id. */
  readonly agents?: ReadonlyMap<string, CodeAgent>;
  readonly models: ModelSource;
  /** Called when these agents may have changed, here or elsewhere; without ids, all may have. */
  readonly onAgentsChanged: (agentIds?: readonly string[]) => void;
  /** For agents whose records name none. */
  readonly fallbacks?: readonly Fallback[];
  /** The lowest level of all agents. */
  readonly trust?: Trust | undefined;
}

/** An agent that may run, and what its tool set is made of. The same objects for as long as nothing has changed. */
export interface Equipped {
  readonly agent: Agent;
  /** The definitions that are shared, and those of the agent's tenant. */
  readonly tools: readonly ToolDefinition[];
  /** The MCP servers that the agent selects, by their ids. */
  readonly servers: readonly SelectedServer[];
}

/** An agent that may run, with its model and those that may take over. */
export interface Resolved extends Equipped, ResolvedModel {
  readonly fallbacks: readonly FallbackModel[];
  /** What the agent has in code. */
  readonly code: AgentCode;
}

/**
 * Resolves agents, and applies invalidations. What does not depend on each other is looked up side by side, so a catalog that
 * hangs delays a run by one time-out.
 */
export interface Resolver {
  /**
   * Resolves the agent for a caller: the tenant's own, else the shared one. What it names is looked up where the agent is from: a
   * shared agent never gets a tenant's provider, tool or server.
   *
   * @throws PinnaceError `not_found` for an unknown agent or provider, `forbidden` for a disabled agent, whatever catalog, secret
   * source and model source throw. With `as`, the record that it returns is resolved in place of the agent's.
   */
  resolve(
    agentId: string,
    caller: Caller,
    spanContext?: SpanContext,
    as?: (today: Agent) => Agent,
  ): Promise<Resolved>;
  /** The agent and what its tool set is made of, without its model. @throws PinnaceError as `resolve`. */
  equip(agentId: string, caller: Caller): Promise<Equipped>;
  /** The agent alone. An `internal` agent does not exist for a caller over HTTP. */
  agent(agentId: string, caller: Caller): Promise<Agent>;
  /** The definitions that are shared, and the tenant's own. The same array for as long as nothing has changed. */
  tools(tenant: string | undefined): Promise<readonly ToolDefinition[]>;
  /** A tool's secret. @throws PinnaceError as the secret source does, `unavailable` when it does not answer in time. */
  readonly secret: (ref: SecretRef, scope: SecretScope, spanContext?: SpanContext) => Promise<Secret>;
  /** Applies what was invalidated before now, on any instance. Never rejects: a failing storage rejects the claim of the run. */
  refresh(): Promise<void>;
  /**
   * Returns a check of what the next `resolve` uses, for the commit that depends on it: the commit conflicts where an instance has
   * invalidated something that is not applied here. Nothing is read then. Where the storage cannot check, or nothing was read yet, it
   * does as `refresh` and returns `undefined`. Never rejects.
   */
  currentCheck(): Promise<Change | undefined>;
  /** How many invalidations were applied: what was resolved before may be out of date when the number has changed. */
  readonly invalidations: number;
  /**
   * Invalidates what these keys name, here and on every instance: `agent:<id>`, `provider:<id>`, `mcp-server:<id>`, `tools`,
   * `secrets`, or `*`. A key of one record names the shared one; with `@<tenant>` behind it, what is this tenant's own.
   */
  invalidate(keys: readonly string[]): Promise<void>;
  /** Stops watching for invalidations. */
  close(): void;
}

/** Who resolves. */
export type Caller = Pick<Principal, 'tenant' | 'via'>;

/** Creates a resolver with empty caches. */
export function createResolver(options: ResolverOptions): Resolver {
  const bulletin = createInvalidations(options.storage);
  const caches = createCatalogCaches({ ...options, position: () => bulletin.position });
  const secrets = createSecretLookup(options);
  const feed = createInvalidationFeed({
    ...options,
    bulletin,
    remove(keys, since) {
      for (const key of keys.map(readCacheKey)) {
        caches.invalidate(key, since);
        secrets.invalidate(key);
      }
    },
  });
  const agent: Resolver['agent'] = async (agentId, caller) => {
    feed.subscribe();
    const found = requireActive(await findAgent(agentId, caller, { caches, agents: options.agents }), caller);
    return withTrust(found, options.trust);
  };
  const modelOf = createModelResolver({ caches, secrets, models: options.models });
  return {
    agent,
    secret: (ref, scope, spanContext) => secrets.get(ref, scope, spanContext),
    refresh: () => feed.refresh(),
    async currentCheck() {
      const check = options.storage.checks && feed.check;
      if (!check) await feed.refresh();
      return check || undefined;
    },
    invalidate: (keys) => feed.invalidate(keys),
    close: () => feed.close(),
    get invalidations() {
      return feed.count;
    },
    async resolve(agentId, caller, spanContext, as = (today) => today) {
      const listed = listShared(caches);
      const today = await agent(agentId, caller);
      const found = withTrust(withinEgress(as(today), today), today.trust);
      const owner = { agent: found, tenant: caller.tenant };
      const [equipped, model] = await Promise.all([
        equip(caches, found, listed),
        modelOf(found, owner, spanContext),
      ]);
      const fallbacks = (found.fallbacks ?? options.fallbacks ?? []).map((fallback) => ({
        ...fallback,
        resolve: (at?: SpanContext) => modelOf(fallback, owner, at),
      }));
      const contextTokens = found.contextTokens ?? model.contextTokens;
      return { ...equipped, ...model, contextTokens, fallbacks, code: codeOf(today, options.agents) };
    },
    async equip(agentId, caller) {
      const listed = listShared(caches);
      return await equip(caches, await agent(agentId, caller), listed);
    },
    async tools(tenant) {
      feed.subscribe();
      return await toolsOf(caches, tenant, listShared(caches));
    },
  };
}

/** A tenant's own record goes before an agent in code, which goes before a shared record. */
async function findAgent(
  agentId: string,
  { tenant }: Caller,
  { caches, agents }: { readonly caches: CatalogCaches; readonly agents: ResolverOptions['agents'] },
): Promise<Agent | undefined> {
  const given = agents?.get(agentId);
  return given ? await caches.agents.own(agentId, tenant) ?? given.record : await caches.agents.get(agentId, tenant);
}

/** The code of this very agent: a tenant's own record of the same id has none. */
function codeOf(agent: Agent, agents: ResolverOptions['agents']): AgentCode {
  const given = agents?.get(agent.id);
  const isIt = given && (given.record === agent || raised.get(given.record) === agent);
  return isIt ? given.code : {};
}

const raised = new WeakMap<Agent, Agent>();

/** The agent at this level, unless it has a higher one. The same object for the same agent and level. */
function withTrust(agent: Agent, least: Trust | undefined): Agent {
  const trust = highestTrust(agent.trust, least);
  if (trust === (agent.trust ?? 'open')) return agent;
  const known = raised.get(agent);
  if (known?.trust === trust) return known;
  const made = { ...agent, trust };
  raised.set(agent, made);
  return made;
}

/** A recorded agent goes no further out than the agent may today. */
function withinEgress(agent: Agent, today: Agent): Agent {
  const egress = narrowEgress(agent.egress, today.egress);
  return egress === agent.egress ? agent : { ...agent, egress: egress && [...egress] };
}

type SharedTools = Promise<readonly ToolDefinition[] | undefined>;

/** Every agent needs this list, so its load starts before the agent is known, and may then be waited for by no one. */
function listShared({ tools }: CatalogCaches): SharedTools {
  const listed = tools.get('all', undefined);
  listed.catch(() => undefined);
  return listed;
}

async function toolsOf(
  { tools }: CatalogCaches,
  tenant: string | undefined,
  listed: SharedTools,
): Promise<readonly ToolDefinition[]> {
  const [shared, own] = await Promise.all([listed, tools.own('all', tenant)]);
  return mergeTools(shared ?? [], own ?? []);
}

async function equip(caches: CatalogCaches, agent: Agent, listed: SharedTools): Promise<Equipped> {
  const { mcp, tenant } = agent;
  const selected = Object.keys(mcp).toSorted().map(async (id) => ({
    id,
    server: await caches.servers.get(id, tenant),
  }));
  const [tools, servers] = await Promise.all([toolsOf(caches, tenant, listed), Promise.all(selected)]);
  return { agent, tools, servers };
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

type Definitions = readonly ToolDefinition[];

const merged = new WeakMap<Definitions, WeakMap<Definitions, Definitions>>();

/** Merges both lists, ordered by id; an own definition replaces a shared one. The same two lists give the same array. */
function mergeTools(shared: Definitions, own: Definitions): Definitions {
  if (own.length === 0) return shared;
  const byOwn = merged.get(shared) ?? new WeakMap<Definitions, Definitions>();
  merged.set(shared, byOwn);
  const known = byOwn.get(own);
  if (known) return known;
  const ids = new Set(own.map(({ id }) => id));
  const all = [...shared.filter(({ id }) => !ids.has(id)), ...own].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  byOwn.set(own, all);
  return all;
}

/** What a model is resolved for. */
interface ModelOwner {
  readonly agent: Agent;
  /** The caller's: its secrets are used. */
  readonly tenant: string;
}

/** Resolves a choice of a model where the agent is from. */
type ResolveModel = (choice: Fallback, owner: ModelOwner, spanContext?: SpanContext) => Promise<ResolvedModel>;

/** Creates the function that resolves models. */
function createModelResolver(
  { caches, secrets, models }: {
    readonly caches: Pick<CatalogCaches, 'providers'>;
    readonly secrets: Pick<SecretLookup, 'ofProvider'>;
    readonly models: ModelSource;
  },
): ResolveModel {
  return async (choice, { agent, tenant }, spanContext) => {
    const found = requireProvider(agent, choice, await caches.providers.get(choice.providerId, agent.tenant));
    const provider = choice.model === undefined ? found : { ...found, model: choice.model };
    const secret = await secrets.ofProvider(provider, { agent, tenant, spanContext });
    const model = withProviderRules(adaptModel(models.model(provider, secret)), provider);
    return { model, provider, secret, contextTokens: leastContext(agent, provider) };
  };
}

/** What an agent says is meant for its first model; that of another provider may take less. */
function leastContext(agent: Agent, provider: Provider): number {
  const given = [agent.contextTokens, provider.contextTokens].filter((tokens) => tokens !== undefined);
  return given.length === 0 ? defaultContextTokens : Math.min(...given);
}

function requireProvider({ id }: Agent, { providerId }: Fallback, provider: Provider | undefined): Provider {
  if (!provider) {
    throw new PinnaceError(
      'not_found',
      `Cannot run agent "${id}": its provider "${providerId}" is not in the catalog`,
      { details: { reason: 'provider_not_found' } },
    );
  }
  if (provider.state === 'disabled') {
    throw new PinnaceError('forbidden', `Cannot run agent "${id}": its provider "${provider.id}" is disabled`, {
      details: { reason: 'provider_disabled' },
    });
  }
  return provider;
}
