/** The prompts and resources of MCP servers, whose code is loaded with the first call: most runtimes have none. */

import { loadOnce } from '../../base/load-once.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { RuntimeContent } from './runtime-content.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./mcp-content.ts'));

/** Returns the methods. */
export function contentOnUse(parts: () => RuntimeParts): RuntimeContent {
  const made = loadOnce(async () => (await load()).createRuntimeContent(parts()));
  return {
    prompts: {
      list: async (...given) => await (await made()).prompts.list(...given),
      get: async (...given) => await (await made()).prompts.get(...given),
      complete: async (...given) => await (await made()).prompts.complete(...given),
    },
    resources: {
      list: async (...given) => await (await made()).resources.list(...given),
      read: async (...given) => await (await made()).resources.read(...given),
    },
    apps: {
      read: async (...given) => await (await made()).apps.read(...given),
      call: async (...given) => await (await made()).apps.call(...given),
    },
    readInRun: async (...given) => await (await made()).readInRun(...given),
  };
}
