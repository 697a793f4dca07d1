/** The tool definitions that a tenant's agents choose from: the shared ones, and the tenant's own. */

import type { ToolDefinition } from '../../base/schema.ts';

type Definitions = readonly ToolDefinition[];

const merged = new WeakMap<Definitions, WeakMap<Definitions, Definitions>>();

/** Merges both lists, ordered by id; an own definition replaces a shared one. The same two lists give the same array. */
export function mergeTools(shared: Definitions, own: Definitions): Definitions {
  if (own.length === 0) return shared;
  const byOwn = merged.get(shared) ?? new WeakMap<Definitions, Definitions>();
  merged.set(shared, byOwn);
  const known = byOwn.get(own);
  if (known) return known;
  const ids = new Set(own.map(({ id }) => id));
  const all = [...shared.filter(({ id }) => !ids.has(id)), ...own].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  byOwn.set(own, all);
  return all;
}
