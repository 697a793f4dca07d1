/** The agent whose tools are offered to the browser. */

import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { offerAgentTools, type OfferOptions } from '../../../adapters/webmcp/page.ts';
import type { Playground } from '../../app/state/playground.ts';

/** What the browser's own agent may call. */
export interface OfferedAgent {
  /** `undefined`: nothing is offered. */
  readonly agentId: ReadonlySignal<string | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** Offers the tools of this agent instead of the current one; `undefined` withdraws them. */
  readonly offer: (agentId: string | undefined) => Promise<void>;
}

interface OfferedAgentOptions {
  readonly playground: Pick<Playground, 'agents' | 'webmcp'>;
  readonly confirm: NonNullable<OfferOptions['confirm']>;
}

/** Offers nothing at first. After a change of the agents it offers the tools anew. */
export function createOfferedAgent({ playground, confirm }: OfferedAgentOptions): OfferedAgent {
  const current = signal<string | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let withdraw: (() => void) | undefined;
  let turn: Promise<void> = Promise.resolve();

  async function register(): Promise<void> {
    withdraw?.();
    withdraw = undefined;
    const { value: agentId } = current;
    if (agentId === undefined) return;
    const { port1, port2 } = new MessageChannel();
    try {
      await playground.webmcp.offerAgent(agentId, port2);
      withdraw = await offerAgentTools(port1, { confirm });
    } catch {
      port1.close();
      current.value = undefined;
      problem.value = 'The tools were withdrawn: the agent is disabled, or the browser refused them. Check the agent.';
    }
  }

  /** One after the other: a name can be registered once. */
  const again = (): Promise<void> => (turn = turn.then(register));
  let agents = playground.agents;
  effect(() => {
    if (playground.agents === agents) return;
    agents = playground.agents;
    void again();
  });

  return {
    agentId: current,
    problem,
    async offer(agentId) {
      problem.value = undefined;
      current.value = agentId;
      await again();
    },
  };
}
