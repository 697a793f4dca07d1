/** The page's samples. Agents that search the knowledge search all of its data sources. */

import { sampleAgents, sampleDataSources, sampleProviders } from './agents.ts';
import type { Samples } from '../agents/worker/register-samples.ts';
import { pageDataSources, sourceIds } from '../knowledge/worker/data-sources.ts';

/** The initial records of the page's registry. */
export const pageSamples: Samples = {
  agents: sampleAgents.map((agent) =>
    agent.dataSources?.includes(sourceIds.words) ? { ...agent, dataSources: Object.values(sourceIds) } : agent
  ),
  providers: sampleProviders,
  dataSources: [...sampleDataSources, ...pageDataSources],
};
