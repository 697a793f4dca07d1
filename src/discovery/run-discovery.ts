/** Discovery for runs: one index for all runs with the same tools, and the four tools anew for each run. */

import type { Storage } from '../contracts/storage.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { type DiscoveryTools, discoveryTools } from './discovery-tools.ts';
import { discoveryToolNames } from './tool-names.ts';
import { toIndexedTool } from './index/fields.ts';
import type { Rerank } from './rerank.ts';
import { createToolIndex, type ToolIndex } from './index/tool-index.ts';

/** Whose run it is. */
export interface RunOfDiscovery {
  /** The names that are active from the start. */
  readonly active: readonly string[];
  readonly principal: ToolContext['principal'];
  readonly chatId: string;
  /** Whether a tool may be found and used now. */
  readonly isAllowed: (name: string) => boolean;
}

/** Gives runs their discovery tools. */
export interface RunDiscovery {
  /** The four over no tools at all: as they stand in registries and manifests. */
  readonly tools: readonly Tool[];
  /** The four over these tools. The same array is indexed once. */
  open(tools: readonly Tool[], run: RunOfDiscovery): DiscoveryTools;
}

/** What discovery for runs works with. */
export interface RunDiscoveryOptions {
  /** Where loaded sets wait for the next request. */
  readonly storage: Storage;
  readonly rerank?: Rerank | undefined;
  /** Of the composition itself, for the four that stand in manifests. */
  readonly principal: ToolContext['principal'];
}

/** Makes discovery for runs. */
export function createRunDiscovery({ storage, rerank, principal: host }: RunDiscoveryOptions): RunDiscovery {
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
