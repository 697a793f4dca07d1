/** Switches for tools that are given as code: a registry does not keep those, and people may still turn them off. */

import type { Storage, Tool } from '../../../src/index.ts';
import type { ToolDefinition } from '../../../src/registry/index.ts';

/** The switches of one storage. */
export interface ToolSwitches {
  /** Returns the tool with its switch: its definition has the current state. */
  readonly wired: (tool: Tool) => Tool;
  /** Reads the switches again: another tab may have changed one. */
  readonly refresh: () => Promise<void>;
  readonly set: (toolId: string, state: ToolDefinition['state']) => Promise<void>;
}

const prefix = ['tool-switches'];
/** More tools than the samples have. */
const most = 1000;

/** Creates the switches, all on until `refresh` reads them. */
export function createToolSwitches(storage: Storage): ToolSwitches {
  let off: ReadonlySet<string> = new Set();
  return {
    wired(tool) {
      const { id, state } = tool.definition;
      const isOn = (): boolean => !off.has(id);
      const definition: ToolDefinition = {
        ...tool.definition,
        get state() {
          return isOn() ? state : 'disabled';
        },
      };
      return { ...tool, definition, isAvailable: () => isOn() && (tool.isAvailable?.() ?? true) };
    },
    async refresh() {
      const entries = await storage.list({ prefix, limit: most });
      off = new Set(entries.map(({ key }) => String(key.at(-1))));
    },
    async set(toolId, state) {
      const key = [...prefix, toolId];
      await storage.commit([state === 'disabled' ? { key, value: true } : { key }]);
      await this.refresh();
    },
  };
}
