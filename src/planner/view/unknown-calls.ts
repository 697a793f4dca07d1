/** Tool calls without a result: their agent ended while they were in progress. */

import type { PlanCallFacts } from '../../contracts/plans.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import type { PlanState } from '../model/plan-state.ts';

/** Returns the calls that may have acted when this event ends their agent. The state is that before the event. */
export function callsLeftOpen(state: PlanState, event: PlanEvent): readonly PlanCallFacts[] {
  if (event.type !== 'agent.cancelled' && event.type !== 'agent.failed') return [];
  const calls = state.agents.get(event.id)?.calls?.values() ?? [];
  return [...calls].filter(({ started }) => started).map(({ id, spec: { tool, input } }) => ({ id, tool, input }));
}
