/** The rehearsal model, whose code loads with its first call: most endpoints never call it. */

import type { LanguageModel } from '../../src/contracts/ai-types.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { RehearsalOptions } from './rehearsal.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./rehearsal.ts'));

/** Returns a model that answers as `rehearsal(options)` does. */
export function rehearsalOnUse(options?: RehearsalOptions): LanguageModel {
  const model = loadOnce(async () => (await load()).rehearsal(options));
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doStream: async (call) => await (await model()).doStream(call),
    doGenerate: async (call) => await (await model()).doGenerate(call),
  };
}
