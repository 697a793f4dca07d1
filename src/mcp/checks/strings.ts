/** Every text in a definition, with its place and whether a model may read it. */

import { below } from './finding.ts';

/** One text. */
export interface PlacedText {
  readonly text: string;
  readonly path: string;
  /** Whether it is prose for models, and not an identifier, an address or a pattern. */
  readonly isWords: boolean;
}

/** Keywords of JSON Schema, and fields of icons, whose values are no prose. */
const identifiers = new Set(['type', '$schema', '$ref', '$dynamicRef', '$id', '$anchor', 'format', 'pattern', 'src']);

/** Their values are for clients, not for models. */
const forClients = new Set(['_meta', 'icons', 'execution']);

/** Returns every text of a definition, the names of properties too. What was read has at most 64 levels. */
export function textsOf(value: unknown, path = '', isWords = true): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path, isWords }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, i) => textsOf(item, below(path, i), isWords));
  return Object.entries(value).flatMap(([key, item]) => {
    const place = below(path, key);
    const words = isWords && !(path === '' && forClients.has(key)) &&
      !(typeof item === 'string' && identifiers.has(key));
    // Names are read by models too.
    if (path === '' && key === 'name' && typeof item === 'string') {
      return [{ text: spaced(item), path: place, isWords }];
    }
    return [{ text: spaced(key), path: place, isWords: words }, ...textsOf(item, place, words)];
  });
}

/** `ignore_previous_instructions` says what it says. */
function spaced(name: string): string {
  return name.replaceAll(/[_.-]+/g, ' ');
}
