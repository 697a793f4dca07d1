/** Puts the samples into the registry of an endpoint, where they are not there yet: what people have changed stays. */

import { type AgentInput, PinnaceError, type ProviderInput, type Registry } from '../src/index.ts';

/** What is put there. */
export interface Samples {
  readonly agents: readonly AgentInput[];
  readonly providers: readonly ProviderInput[];
}

/** Gives the function that registers what is missing: once, and again after a failure, which whoever waits does not see. */
export function createSamples(registry: Registry, samples: Samples): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => done ??= register(registry, samples).catch(() => void (done = undefined));
}

async function register(registry: Registry, { agents, providers }: Samples): Promise<void> {
  await Promise.all([
    ...providers.map(async (provider) => {
      if (!await registry.provider(provider.id)) await unlessThere(registry.providers.register(provider));
    }),
    ...agents.map(async (agent) => {
      if (!await registry.agent(agent.id)) await unlessThere(registry.agents.register(agent));
    }),
  ]);
}

/** Another instance may do the same at the same time. */
async function unlessThere(registered: Promise<unknown>): Promise<void> {
  await registered.catch((error: unknown) => {
    if (!(error instanceof PinnaceError && error.details?.['reason'] === 'already_exists')) throw error;
  });
}
