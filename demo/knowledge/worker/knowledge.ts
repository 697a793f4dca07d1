/** The sample data source: what there is to know about Pinnace itself, and whatever else is added. */

import { textSource } from '../../../adapters/grounding/text.ts';
import { createGrounding, createPrincipal, type Grounding, type Registry, type Storage } from '../../../src/index.ts';
import { ingest } from '../../../src/grounding/index.ts';
import type { WritableGroundingSource } from '../../../src/contracts/index.ts';
import { knowledge } from './data-sources.ts';
import { guideTexts } from './guide-texts.ts';

/** Creates grounding over the sample source; it is filled with the guide for each tenant that comes. */
export function createKnowledge(storage: Storage, records?: Pick<Registry, 'dataSource'>): Grounding {
  const source = textSource({ id: knowledge.id, storage });
  return createGrounding({
    sources: [startedWithGuide(source, storage)],
    descriptions: { [knowledge.id]: knowledge.description },
    ...(records && { records }),
  });
}

/** Skips files that were ingested before, so that parts of the guide that a tenant deleted stay deleted. */
function startedWithGuide(source: WritableGroundingSource, storage: Storage): WritableGroundingSource {
  const filling = createGrounding({ sources: [source] });
  const files = Object.entries(guideTexts).map(([name, text]) => ({ name: `guide/${name}`, text: () => text }));
  const started = new Map<string, Promise<unknown>>();
  const start = async (tenant: string): Promise<void> => {
    const principal = createPrincipal({ via: 'in-process', tenant, subject: 'guide', agents: '*', scopes: [] });
    const filled = started.get(tenant) ?? ingest(filling, { dataSourceId: source.id, files, storage }, { principal });
    started.set(tenant, filled);
    await filled.catch((error: unknown) => {
      started.delete(tenant);
      throw error;
    });
  };
  return {
    ...source,
    async retrieve(request, signal) {
      await start(request.tenant);
      return await source.retrieve(request, signal);
    },
    async stats(tenant, signal) {
      await start(tenant);
      return await source.stats(tenant, signal);
    },
  };
}
