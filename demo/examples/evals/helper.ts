/** The agent of the example, composed for production and for its evals alike. */

import { createRuntime, type ModelSource, type PlanningRuntime } from 'pinnace';
import { staticCatalog } from 'pinnace/catalog/static';
import { rehearsal } from 'pinnace/models/rehearsal';
import { memoryStorage } from 'pinnace/storage/memory';

/** The models of the example: plain code. Yours are of a provider. */
export const models: ModelSource = { model: () => rehearsal({ delayMs: 0 }) };

/** Composes the runtime; evals pass models of a tape. */
export function compose(parts: { readonly models?: ModelSource } = {}): PlanningRuntime {
  return createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'local', entryTools: ['calculator'] }],
      providers: [{ id: 'local', kind: 'rehearsal' }],
    }),
    models,
    storage: memoryStorage(),
    keep: 'inputs',
    ...parts,
  });
}
