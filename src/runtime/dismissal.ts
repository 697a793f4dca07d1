/** Agents that are taken out of service while they run: disabled or removed, here or on another instance. */

import { PinnaceError } from '../errors.ts';
import type { Runs } from './runs.ts';

/**
 * Gives the function that stops the runs of those of the agents (all when absent) that `find` refuses as disabled or unknown. A
 * catalog that does not answer stops nothing.
 */
export function createDismissal(
  runs: Pick<Runs, 'agents' | 'stop'>,
  find: (agentId: string) => Promise<unknown>,
): (agentIds?: readonly string[]) => void {
  const check = async (agentId: string): Promise<void> => {
    try {
      await find(agentId);
    } catch (error) {
      if (isDismissed(error)) runs.stop(agentId, error);
    }
  };
  return (agentIds) => {
    const running = runs.agents();
    for (const agentId of agentIds ?? running) if (running.has(agentId)) void check(agentId);
  };
}

function isDismissed(error: unknown): error is PinnaceError {
  return error instanceof PinnaceError && (error.code === 'forbidden' || error.code === 'not_found');
}
