/** Which tools had a name before: an old name is answered with the new one. */

import type { IndexedTool } from './index/fields.ts';

/** Former names of the tools of an index. */
export interface FormerNames {
  add(tool: IndexedTool): void;
  remove(tool: IndexedTool | undefined): void;
  /** The present names of the tools that had this one, in the order of registration. */
  of(formerName: string): readonly string[];
}

/** Creates an empty list of names. */
export function createFormerNames(): FormerNames {
  const present = new Map<string, Set<string>>();
  return {
    add({ name, renamedFrom = [] }) {
      for (const former of renamedFrom) present.set(former, (present.get(former) ?? new Set()).add(name));
    },
    remove(tool) {
      for (const former of tool?.renamedFrom ?? []) {
        const names = present.get(former);
        names?.delete(tool!.name);
        if (names?.size === 0) present.delete(former);
      }
    },
    of: (formerName) => [...present.get(formerName) ?? []],
  };
}
