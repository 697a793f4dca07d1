/** Reads a question to code: words, `"exact text"`, `/regular expression/`, `sym:name`, `path:src/*.ts`, `lang:go`. */

import { PinnaceError } from '../../../src/base/errors.ts';

export interface CodeQuery {
  readonly words: string;
  readonly exact: readonly string[];
  /** With its flag `i`, or without. */
  readonly regex?: { readonly pattern: string; readonly ignoreCase: boolean };
  readonly symbol?: string;
  /** Globs, of which one must match. */
  readonly paths: readonly string[];
  readonly language?: string;
}

const part = /(sym|path|lang):("[^"]*"|\S+)|"([^"]+)"|(?:^|\s)\/((?:\\.|[^/\\])+)\/(i?)(?=\s|$)|(\S+)/g;

/** @throws PinnaceError `invalid_argument` for a question of more than 1,000 characters. */
export function parseCodeQuery(text: string): CodeQuery {
  if (text.length > 1_000) {
    throw new PinnaceError('invalid_argument', 'Cannot search the code: the query is longer than 1,000', {
      details: { reason: 'query_too_long' },
    });
  }
  const [words, exact, paths]: [string[], string[], string[]] = [[], [], []];
  let query: Pick<CodeQuery, 'regex' | 'symbol' | 'language'> = {};
  for (const [, key, value = '', quoted, pattern, flag, word] of text.matchAll(part)) {
    const plain = value.replaceAll('"', '');
    if (key === 'sym') query = { ...query, symbol: plain };
    else if (key === 'lang') query = { ...query, language: plain.toLowerCase() };
    else if (key === 'path') paths.push(plain);
    else if (quoted !== undefined) exact.push(quoted);
    else if (pattern !== undefined) query = { ...query, regex: { pattern, ignoreCase: flag === 'i' } };
    else if (word !== undefined) words.push(word);
  }
  return { words: words.join(' '), exact, paths, ...query };
}

/** Makes a test of a glob: `*` within a folder, `**` across, `?` one character; without a `/` it is for the file's name. */
export function globTest(glob: string): (path: string) => boolean {
  const parts = glob.split('/');
  const match = (names: readonly string[], globs: readonly string[]): boolean => {
    const [first, ...rest] = globs;
    if (first === undefined) return names.length === 0;
    if (first === '**') return names.some((_, at) => match(names.slice(at), rest)) || match([], rest);
    return names.length > 0 && matchName(names[0]!, first) && match(names.slice(1), rest);
  };
  if (parts.length === 1) return (path) => matchName(path.slice(path.lastIndexOf('/') + 1), glob);
  if (parts.at(-1) === '') parts.splice(-1, 1, '**');
  if (parts.length > 20 || parts.filter((one) => one === '**').length > 3) {
    throw new PinnaceError('invalid_argument', 'Cannot search the code: the path has too many parts', {
      details: { reason: 'invalid_glob' },
    });
  }
  return (path) => match(path.split('/').slice(0, 40), parts);
}

/** `*` takes what is needed and no more: the last one can be moved, the others need not be. */
function matchName(name: string, glob: string): boolean {
  let [at, g, star, mark] = [0, 0, -1, 0];
  while (at < name.length) {
    if (glob[g] === '?' || (glob[g] === name[at] && glob[g] !== '*')) {
      at++;
      g++;
    } else if (glob[g] === '*') {
      star = g++;
      mark = at;
    } else if (star >= 0) {
      g = star + 1;
      at = ++mark;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
