/** Discovery for runs: one index for all runs with the same tools, and four tools per run. */

import type { Discovery } from '../contracts/discovery.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { discoveryTools } from './discovery-tools.ts';
import { discoveryToolNames } from './lookup.ts';
import { toIndexedTool } from './tool-fields.ts';
import type { Rerank } from './rerank.ts';
import { createToolIndex, type ToolIndex } from './tool-index.ts';

/** What discovery for runs works with. */
export interface RunDiscoveryOptions {
  /** Where loaded sets wait for the next request. */
  readonly storage: Storage;
  readonly rerank?: Rerank | undefined;
  /** Of the composition itself, for the four tools in manifests. */
  readonly principal: ToolContext['principal'];
}

/** Creates discovery for runs. */
export function createRunDiscovery({ storage, rerank, principal: host }: RunDiscoveryOptions): Discovery<Tool> {
  const indexes = new WeakMap<readonly Tool[], ToolIndex>();
  const indexOf = (tools: readonly Tool[]): ToolIndex => {
    const index = indexes.get(tools) ?? createToolIndex(indexed(tools));
    indexes.set(tools, index);
    return index;
  };
  const common = { storage, rerank };
  const nothing = { ...common, active: new Set<string>(), principal: host };
  return {
    tools: discoveryTools(createToolIndex([]), nothing).tools,
    open: (tools, { active, ...run }) => discoveryTools(indexOf(tools), { ...common, ...run, active: new Set(active) }),
  };
}

const own: ReadonlySet<string> = new Set(discoveryToolNames);

function indexed(tools: readonly Tool[]) {
  return tools.filter(({ definition }) => !own.has(definition.name)).map(({ definition }) => toIndexedTool(definition));
}
