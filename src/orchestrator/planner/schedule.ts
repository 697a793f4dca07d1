/** What a plan can run now. */

import type { Activity, AgentState, PlanState } from './plan-state.ts';
import { stepId } from './plan-state.ts';

/**
 * Gives every activity that the state allows to run, those first that should start first: deeper ones, then those of agents that
 * go on (they join results) before those that begin, then in the order of creation. It reads the state and nothing else, so it
 * says after a crash what it said before.
 */
export function schedule(state: PlanState): readonly Activity[] {
  if (state.phase !== 'running') return [];
  const found: Activity[] = [];
  for (const agent of state.agents.values()) {
    if (agent.status === 'ready') found.push({ id: stepId(agent), agent, call: undefined });
    for (const call of agent.calls?.values() ?? []) {
      if (call.status === 'ready') found.push({ id: call.id, agent, call });
    }
  }
  return found.toSorted((a, b) => rank(b) - rank(a) || a.agent.order - b.agent.order);
}

/** How soon an activity should start: the higher, the sooner. */
export function rank(activity: { readonly agent: AgentState; readonly call: unknown }): number {
  const { agent, call } = activity;
  return agent.depth * 2 + (agent.step > 1 || call !== undefined ? 1 : 0);
}
