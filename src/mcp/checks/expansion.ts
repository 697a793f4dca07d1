/** The expanded size of a schema: a few lines with references can expand to billions of parts. */

import { asRecord } from '../../base/is-record.ts';

/** Counts the parts of a schema with everything put in where a reference leads to it; a reference back into itself counts once. */
export function expandedSize(root: Readonly<Record<string, unknown>>): number {
  const anchors = new Map<string, unknown>();
  findAnchors(root, anchors);
  const sizes = new Map<object, number>();
  const sizeOf = (part: unknown): number => {
    if (typeof part !== 'object' || part === null) return 0;
    const known = sizes.get(part);
    if (known !== undefined) return known;
    sizes.set(part, 1); // for those that lead back here
    const target = targetOf(asRecord(part), { root, anchors });
    const size = [...Object.values(part), target].reduce((sum: number, child) => sum + sizeOf(child), 1);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(root);
}

function findAnchors(part: unknown, anchors: Map<string, unknown>): void {
  if (typeof part !== 'object' || part === null) return;
  const { $anchor, $dynamicAnchor } = asRecord(part);
  for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') anchors.set(name, part);
  for (const child of Object.values(part)) findAnchors(child, anchors);
}

/** What a reference within the schema leads to; others are refused elsewhere. */
function targetOf(
  { $ref, $dynamicRef }: Readonly<Record<string, unknown>>,
  { root, anchors }: { readonly root: object; readonly anchors: ReadonlyMap<string, unknown> },
): unknown {
  const reference = $ref ?? $dynamicRef;
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  if (!reference.startsWith('#/')) return reference === '#' ? root : anchors.get(reference.slice(1));
  const steps = reference.slice(2).split('/').map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>(
    (part, step) => Array.isArray(part) ? part[Number(step)] : asRecord(part)[step],
    root,
  );
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
