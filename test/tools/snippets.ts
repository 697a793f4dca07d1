/** The fenced blocks of the documentation, as tests read them. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** One fenced block. */
export interface Snippet {
  /** Relative to the root of the project. */
  readonly page: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** The first word behind the fence. */
  readonly language: string;
  /** The second, as `types` (is checked and not run). */
  readonly note: string;
  readonly code: string;
}

const topLevel = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** The pages for readers: the README, the pages beside it, and all of `docs`. */
export async function pages(): Promise<string[]> {
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).toSorted();
  return [...topLevel, ...docs.map((name) => `docs/${name}`)];
}

/** Returns every fenced block of these languages, in the order of the pages. */
export async function snippetsIn(...languages: string[]): Promise<Snippet[]> {
  const found = await Promise.all((await pages()).map(snippetsOf));
  return found.flat().filter(({ language }) => languages.includes(language));
}

async function snippetsOf(page: string): Promise<Snippet[]> {
  const text = await readFile(join(root, page), 'utf8');
  return [...text.matchAll(/^ *```(\w+) ?(\w*)\n([^]*?)^ *```$/gm)].map((found) => {
    const [, language = '', note = '', code = ''] = found;
    return { page, line: text.slice(0, found.index).split('\n').length, language, note, code };
  });
}
