/** Finds where in a JSON text a value is, so that an error can name its line. */

import { pathText } from '../../src/base/parse.ts';

/** A place in a text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns the place of an offset. */
export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Returns the place of a syntax error; the engine's message, which may repeat the text, is not shown. */
export function syntaxErrorPlace(text: string, error: unknown): Place | undefined {
  const message = error instanceof Error ? error.message : '';
  const offset = /position (\d+)/.exec(message)?.[1];
  if (offset !== undefined) return placeOf(text, Number(offset));
  return /end of JSON input|Unterminated/.test(message) ? placeOf(text, text.trimEnd().length) : undefined;
}

/**
 * Returns the place of the value at a path as issues name it (`limits.steps`, `agents.0.name`): of a missing one, the place of what
 * should contain it. The text must be valid JSON.
 */
export function findValue(text: string, path: string): Place {
  const places = placesIn(text);
  for (let names = path === '' ? [] : path.split('.');; names = names.slice(0, -1)) {
    const found = places.get(names.join('.'));
    if (found !== undefined || names.length === 0) return placeOf(text, found ?? 0);
  }
}

/** The offset of each value by its path. */
function placesIn(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g);
  /** The open objects and arrays: the name of the next value in each. */
  const open: { readonly isArray: boolean; name: string; isKey: boolean; index: number }[] = [];
  for (const { 0: token, index: at } of tokens) {
    const inner = open.at(-1);
    if (token === ',' && inner) {
      inner.isKey = !inner.isArray;
      inner.name = String(++inner.index);
    } else if (token === '}' || token === ']') open.pop();
    else if (inner?.isKey && token.startsWith('"')) inner.name = String(JSON.parse(token));
    else if (token === ':' && inner) inner.isKey = false;
    else if (token !== ',' && token !== ':') {
      places.set(pathText(open.map(({ name }) => name)), at);
      if (token === '{') open.push({ isArray: false, name: '', isKey: true, index: 0 });
      if (token === '[') open.push({ isArray: true, name: '0', isKey: false, index: 0 });
    }
  }
  return places;
}
