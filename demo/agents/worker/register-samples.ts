/** Puts the samples into a registry, where they are not there yet or older: what people have changed stays. */

import {
  type AgentInput,
  type DataSourceInput,
  PinnaceError,
  type ProviderInput,
  type Registry,
} from '../../../src/index.ts';

export interface Samples {
  readonly agents: readonly AgentInput[];
  readonly providers: readonly ProviderInput[];
  readonly dataSources: readonly DataSourceInput[];
}

/** Creates the function that registers what is missing: once, and again after a failure. It returns whether all of it is there. */
export function createSamples(registry: Registry, samples: Samples): () => Promise<boolean> {
  let done: Promise<boolean> | undefined;
  const start = async (): Promise<boolean> => {
    try {
      await register(registry, samples);
      return true;
    } catch {
      done = undefined;
      return false;
    }
  };
  return () => done ??= start();
}

async function register(registry: Registry, { agents, providers, dataSources }: Samples): Promise<void> {
  // Agents name them, so they come first.
  await Promise.all([
    ...dataSources.map(async (source) => {
      if (await registry.dataSource(source.id) || await wasRemoved(registry.dataSources, source.id)) return;
      await unlessThere(registry.dataSources.register(source));
    }),
    ...providers.map(async (provider) => {
      if (await registry.provider(provider.id) || await wasRemoved(registry.providers, provider.id)) return;
      await unlessThere(registry.providers.register(provider));
    }),
  ]);
  await Promise.all(agents.map(async (agent) => {
    const current = await registry.agent(agent.id);
    if (!current) {
      if (!await wasRemoved(registry.agents, agent.id)) await unlessThere(registry.agents.register(agent));
      return;
    }
    if (!isNewer(agent.version, current.version) || await isChangedByPeople(registry, agent.id)) return;
    await unlessThere(registry.agents.replace(agent.id, agent, { version: current.revision }));
  }));
}

/** Whether `a` is a later version than `b`, by their three numbers. */
function isNewer(a = '0.1.0', b = '0.1.0'): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) > 0;
}

async function isChangedByPeople(registry: Registry, agentId: string): Promise<boolean> {
  const { items } = await registry.agents.history(agentId, { limit: 200 });
  return items.some(({ by }) => by.type === 'user');
}

/** What people have removed does not come back. */
async function wasRemoved(collection: Pick<Registry['agents'], 'history'>, id: string): Promise<boolean> {
  try {
    return (await collection.history(id, { limit: 1 })).items[0]?.action === 'remove';
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'not_found') return false;
    throw error;
  }
}

/** Another instance may do the same at the same time. */
async function unlessThere(registered: Promise<unknown>): Promise<void> {
  await registered.catch((error: unknown) => {
    if (!(error instanceof PinnaceError && error.code === 'conflict')) throw error;
  });
}
