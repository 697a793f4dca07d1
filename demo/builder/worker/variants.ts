/** Variants of agents: they live as long as the worker, and no registry knows of them. */

import type { Agent } from '../../../src/registry/index.ts';
import type { Variation } from './control.ts';

/** The variants that there are. */
export interface Variants {
  find(agentId: string): Agent | undefined;
  /** Returns a variant of an agent or variant. The latest 50 are stored. */
  add(agent: Agent, variation: Variation): Agent;
}

const most = 50;

/** Creates the variants, at first none. Each has an id of its own: what is cached of one says nothing of another. */
export function createVariants(): Variants {
  const known = new Map<string, Agent>();
  return {
    find: (agentId) => known.get(agentId),
    add(agent, variation) {
      const variant: Agent = { ...agent, ...variation, id: `variant-${crypto.randomUUID()}`, revision: 1 };
      known.set(variant.id, variant);
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      return variant;
    },
  };
}
