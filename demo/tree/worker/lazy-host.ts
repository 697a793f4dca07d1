/** The tree, whose code is fetched when the panel opens or an agent first calls a tool of it: most visits do without. */

import { loadOnce } from '../../../src/base/load-once.ts';
import type { TreeControl } from '../../control/tree-control.ts';
import type { TreeHost, TreeHostOptions } from './host.ts';

/** Creates the host. A call rejects when loading fails, and the next call retries. */
export function lazyTreeHost(options: TreeHostOptions): TreeHost {
  const host = loadOnce(async () => (await import('./host.ts')).createTreeHost(options));
  return { call: async (...args) => await (await host()).call(...args), control: controlOf(host) };
}

function controlOf(host: () => Promise<TreeHost>): TreeControl {
  const control = async (): Promise<TreeControl> => (await host()).control;
  return {
    open: async (onNews) => await (await control()).open(onNews),
    rows: async (wanted) => await (await control()).rows(wanted),
    setExpanded: async (nodeId, isExpanded) => await (await control()).setExpanded(nodeId, isExpanded),
    setAll: async (nodeId, isExpanded) => await (await control()).setAll(nodeId, isExpanded),
    reveal: async (nodeId) => await (await control()).reveal(nodeId),
    typeAhead: async (prefix, rank) => await (await control()).typeAhead(prefix, rank),
    search: async (text, limit) => await (await control()).search(text, limit),
    change: async (tool, input) => await (await control()).change(tool, input),
    undo: async () => await (await control()).undo(),
    grow: async () => await (await control()).grow(),
    goBack: async () => await (await control()).goBack(),
  };
}
