/** The tree, whose code is fetched when the panel opens or an agent first calls a tool of it: most visits do without. */

import { loadOnce, onUse } from '../../../src/base/load-once.ts';
import type { TreeHost, TreeHostOptions } from './host.ts';

/** Creates the host. A call rejects when loading fails, and the next call retries. */
export function lazyTreeHost(options: TreeHostOptions): TreeHost {
  const host = loadOnce(async () => (await import('./host.ts')).createTreeHost(options));
  const control = async () => (await host()).control;
  return {
    call: async (...args) => await (await host()).call(...args),
    control: {
      ...onUse(control, 'open', 'rows', 'setExpanded', 'setAll', 'reveal', 'typeAhead', 'search'),
      ...onUse(control, 'change', 'undo', 'grow', 'goBack'),
    },
  };
}
