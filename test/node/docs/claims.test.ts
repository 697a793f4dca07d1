/** The list of claims: every sentence that states a fact has a row, and every row's proof exists. */

import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimOf, claims, factsOf, type Proof, read, sources } from '../../tools/claims.ts';

const root = join(import.meta.dirname, '../../..');
/** Titles in a source are quoted with any quotation mark, and may escape theirs. */
const plain = (text: string): string => text.replaceAll('\\', '').replaceAll(/[`"’]/g, "'").replaceAll(/\s+/g, ' ');
/** The texts that are the first argument of a call, as titles are. */
const titles = (source: string): string =>
  [...source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[^\\])+)\1,/g)].map(([, , title]) => title).join('\n');
const figures = read('docs/figures.md') + read('README.md');

function faultOf({ kind, file, words }: Proof): string | undefined {
  if (kind === 'none') return words === '' ? 'says nothing' : undefined;
  if (kind === 'source') return /\d{4}/.test(sources.get(words) ?? '') ? undefined : `there is no source ${words}`;
  if (kind === 'figure') return figures.includes(`| ${words}`) ? undefined : `there is no figure “${words}”`;
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  const text = /\.test\.tsx?$/.test(file) ? titles(read(file)) : read(file);
  return plain(text).includes(plain(words)) ? undefined : `${file} has no “${words}”`;
}

describe.each([...claims])('%s', (page, rows) => {
  const facts = factsOf(read(page));

  it('has a proof for each sentence that states a fact', () => {
    expect(facts.length).toBeGreaterThan(80);
    expect(facts.filter((fact) => !claimOf(page, fact))).toEqual([]);
  });

  it('has the sentence of each row, once', () => {
    expect(rows.filter(({ start }) => facts.filter((fact) => fact.startsWith(start)).length !== 1)).toEqual([]);
  });

  it('is proven by tests, figures and sources that exist', () => {
    const proofs = facts.flatMap((fact) => claimOf(page, fact)?.proofs ?? []);
    expect(proofs.map(faultOf).filter(Boolean)).toEqual([]);
  });
});

it('names every data part of a stream in docs/runs.md', () => {
  const [, parts = ''] = /interface PinnaceDataParts \{\n([^]*?)^\}/m.exec(read('src/runtime/message-parts.ts')) ?? [];
  const typed = [...parts.matchAll(/^ {2}readonly '?([\w-]+)'?[?:]/gm)].map(([, name = '']) => `data-${name}`);
  const pushed = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...read(path).matchAll(/type: '(data-[\w-]+)'/g)].map(([, name = '']) => name)
  );
  const others = new Set(['data-source', 'data-undo']); // the target of an event, and a part of a stored message alone
  const names = [...typed, ...pushed].filter((name) => !others.has(name));
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !read('docs/runs.md').includes(`\`${name}\``))).toEqual([]);
});

it('names the version of the changelog in the comparison of the README', () => {
  const [, version = ''] = /^## (\d+\.\d+)\.\d+/m.exec(read('CHANGELOG.md')) ?? [];
  expect(read('README.md')).toContain(`| Pinnace ${version} `);
});

it('has in the README the figures of docs/figures.md', () => {
  const [, table = ''] = /<!-- figures[^\n]*\n([^]*?)<!-- \/figures/.exec(read('README.md')) ?? [];
  const measured = [...table.matchAll(/^\| [^|]+\| ([^|]+?) +\|/gm)].slice(2).map(([, cell = '']) => cell);
  expect(measured.length).toBeGreaterThan(10);
  expect(measured.filter((cell) => !figures.slice(0, read('docs/figures.md').length).includes(cell))).toEqual([]);
});
