/** The runtime's methods of sign-ins, whose code is loaded with the first call: most runtimes have no sign-ins. */

import { loadOnce } from '../../base/load-once.ts';
import type { RuntimeSignIns } from '../../contracts/mcp/sign-ins.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { HostedRuntime } from '../runtime.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./mcp-sign-ins.ts'));

/** Returns the methods. */
export function signInsOnUse(parts: RuntimeParts, guarded: Pick<HostedRuntime, 'guard'>): RuntimeSignIns {
  const made = loadOnce(async () => (await load()).createRuntimeSignIns(parts, guarded));
  return {
    start: async (...given) => await (await made()).start(...given),
    finish: async (...given) => await (await made()).finish(...given),
    grant: async (...given) => await (await made()).grant(...given),
    answer: async (...given) => await (await made()).answer(...given),
    revoke: async (...given) => await (await made()).revoke(...given),
  };
}
