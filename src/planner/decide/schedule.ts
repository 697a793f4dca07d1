/** What a plan can run now. */

import type { Activity, AgentState, PlanState } from '../model/plan-state.ts';
import { callOf, livingAgents, stepOf } from '../model/plan-state.ts';

/**
 * Gives every activity that the state allows to run, those first that should start first: what goes on (it joins results, or is a
 * call) before what begins, then deeper before shallower, then in the order of creation. It reads the state and nothing else, so it
 * says after a crash what it said before.
 */
export function schedule(state: PlanState): readonly Activity[] {
  if (state.phase !== 'running') return [];
  const found: Activity[] = [];
  for (const agent of livingAgents(state)) {
    if (agent.status === 'ready') found.push(stepOf(agent));
    for (const call of agent.calls?.values() ?? []) {
      if (call.status === 'ready') found.push(callOf(agent, call));
    }
  }
  return found.toSorted((a, b) => rank(b) - rank(a) || a.agent.order - b.agent.order);
}

/** More than the depth of any agent. */
const goingOn = 64;

/** How soon an activity should start: the higher, the sooner. */
export function rank(activity: { readonly agent: AgentState; readonly call: unknown }): number {
  const { agent, call } = activity;
  return agent.depth + (agent.step > 1 || call !== undefined ? goingOn : 0);
}
