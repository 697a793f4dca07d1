/** The steps of plans. Their code is loaded with the first step: most runtimes have no plans. */

import { loadOnce } from '../base/load-once.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import type { StepParts } from './agent-steps.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./agent-steps.ts'));

/** Creates the steps of a runtime's agents. */
export function stepsOnUse(parts: StepParts): AgentSteps {
  let created: AgentSteps | undefined;
  const steps = async (): Promise<AgentSteps> => {
    const { createAgentSteps } = await load();
    return created ??= createAgentSteps(parts);
  };
  return {
    think: async (request) => await (await steps()).think(request),
    act: async (request) => await (await steps()).act(request),
  };
}
