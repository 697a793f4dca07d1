/** Variants of agents: they live as long as the worker, and no registry knows of them. */

import type { Agent } from '../../../src/registry/index.ts';

/** The variants that there are. */
export interface Variants {
  find(agentId: string): Agent | undefined;
  /** Returns the agent with an id of its own. The latest 50 are stored. */
  add(agent: Agent): Agent;
}

const most = 50;

/** Creates the variants, at first none. Each has an id of its own: what is cached of one says nothing of another. */
export function createVariants(): Variants {
  const known = new Map<string, Agent>();
  return {
    find: (agentId) => known.get(agentId),
    add(agent) {
      const variant: Agent = { ...agent, id: `variant-${crypto.randomUUID()}`, revision: 1 };
      known.set(variant.id, variant);
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      return variant;
    },
  };
}
