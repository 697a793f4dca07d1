/** Finds the fields that a schema has dropped: `v.object` leaves out what it does not know and reports success. */

import type { Payload } from './node-store.ts';

/** The names from the payload down to a field. */
export type FieldPath = readonly string[];

/** How many fields a refusal lists. */
const maxFields = 20;

/**
 * Returns the fields of the input that the output does not have, also nested and in lists; at most 20. Fields that the schema added
 * do not matter, nor does a value that it turned into another kind.
 */
export function lostFields(input: unknown, output: unknown): readonly FieldPath[] {
  const lost: FieldPath[] = [];
  collect({ input, output, path: [] }, lost);
  return lost;
}

interface Pair {
  readonly input: unknown;
  readonly output: unknown;
  readonly path: FieldPath;
}

/** Payloads are at most 64 levels deep, so this may call itself. */
function collect({ input, output, path }: Pair, lost: FieldPath[]): void {
  if (!isContainer(input) || !isContainer(output) || input === output) return;
  if (Array.isArray(input) !== Array.isArray(output)) return;
  for (const [name, value] of Object.entries(input)) {
    if (lost.length >= maxFields) return;
    if (value === undefined) continue;
    const stored = Object.hasOwn(output, name) ? output[name] : undefined;
    if (stored === undefined) lost.push([...path, name]);
    else collect({ input: value, output: stored, path: [...path, name] }, lost);
  }
}

/** Returns a copy of the output with these fields of the input that it has a place for. */
export function withFields(input: Payload, output: Payload, fields: readonly FieldPath[]): Payload {
  const copy = structuredClone(output);
  for (const path of fields) {
    const [from, to] = [holderOf(input, path), holderOf(copy, path)];
    const name = path.at(-1)!; // safe: a path has a name
    if (from && to) to[name] = structuredClone(from[name]);
  }
  return copy;
}

/** Whether the payload has the field. */
export function hasField(payload: Payload, path: FieldPath): boolean {
  return Object.hasOwn(holderOf(payload, path) ?? {}, path.at(-1)!); // safe: as above
}

function holderOf(payload: unknown, path: FieldPath): Record<string, unknown> | undefined {
  let here = payload;
  for (const name of path.slice(0, -1)) here = isContainer(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return isContainer(here) ? here : undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
