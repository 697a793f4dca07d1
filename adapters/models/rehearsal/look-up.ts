/** Finds a value by its name in what tools returned before. */

import { asList, type Shape } from './shape.ts';
import { allStemsOf } from './words.ts';

interface Candidate {
  readonly value: unknown;
  readonly score: number;
}

const maxValues = 500;

/** Returns the value whose name is most like the wanted one, of the latest result that has any; for an array, all of them. */
export function lookUp(
  results: readonly unknown[],
  { words, shape }: { words: ReadonlySet<string>; shape: Shape },
): unknown {
  const kind = shape.kind === 'array' ? shape.items().kind : shape.kind;
  for (const result of results.toReversed()) {
    const all = namedValues(result).map(({ key, value }) => ({ value, score: likeness(allStemsOf(key), words) }))
      .filter(({ value, score }) => score >= 0.5 && isOfKind(value, kind));
    const best = all.reduce<Candidate | undefined>(
      (top, next) => next.score > (top?.score ?? 0) ? next : top,
      undefined,
    );
    if (!best) continue;
    if (shape.kind !== 'array') return best.value;
    return all.filter(({ score }) => score === best.score).map(({ value }) => value).slice(0, shape.maxItems);
  }
  return undefined;
}

/** Every value with its key, outer ones first; the items of a list carry the list's key. */
function namedValues(result: unknown): readonly { readonly key: string; readonly value: unknown }[] {
  const found: { key: string; value: unknown }[] = [];
  const queue: { key: string; value: unknown }[] = [{ key: '', value: result }];
  for (let next = queue.shift(); next !== undefined && found.length < maxValues; next = queue.shift()) {
    const { key, value } = next;
    found.push(next);
    if (Array.isArray(value)) {
      for (const item of asList(value).slice(0, maxValues)) queue.push({ key, value: item });
    } else if (typeof value === 'object' && value !== null) {
      for (const [inner, item] of Object.entries(value).slice(0, maxValues)) queue.push({ key: inner, value: item });
    }
  }
  return found;
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / one.union(other).size;
}

function isOfKind(value: unknown, kind: Shape['kind']): boolean {
  if (kind === 'integer') return Number.isInteger(value);
  if (kind === 'any') return typeof value !== 'object';
  return kind === typeof value && value !== null;
}
