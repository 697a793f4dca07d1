/** Agents that are taken out of service while they run: disabled or removed, here or on another instance. */

import { PinnaceError } from '../../base/errors.ts';
import type { RunningAgent, Runs } from '../log/runs.ts';

/**
 * Creates the function that stops the runs of those of the agents (all when absent) that `find` refuses as disabled or unknown for
 * the tenant of the run. A catalog that does not answer stops nothing.
 */
export function createDismissal(
  runs: Pick<Runs, 'agents' | 'stop'>,
  find: (agentId: string, tenant: string) => Promise<unknown>,
): (agentIds?: readonly string[]) => void {
  const check = async ({ agentId, tenant }: RunningAgent): Promise<void> => {
    try {
      await find(agentId, tenant);
    } catch (error) {
      if (isDismissed(error)) runs.stop({ agentId, tenant }, error);
    }
  };
  return (agentIds) => {
    for (const running of runs.agents()) if (agentIds?.includes(running.agentId) ?? true) void check(running);
  };
}

function isDismissed(error: unknown): error is PinnaceError {
  return error instanceof PinnaceError && (error.code === 'forbidden' || error.code === 'not_found');
}
