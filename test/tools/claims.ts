/**
 * The claims of three pages and what proves each, from the list in `test/node/docs/claims.md`: `npm run claims` prints them
 * with links, as Markdown, and then the sentences without a row.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../..');

/** Reads a file of the project. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const list = read('test/node/docs/claims.md');

/** What starts a sentence that tells the reader what to do. */
const instructions =
  /^(?:Ask|Back up|Bind|Branch on|Choose|Connect|Do not|Files: see|Name|Pass|Read|Run|See|Send|Serve|Set|Terminate|This page|Try|Use)\b/;

/** Returns the sentences of a page that can state facts, and the rows of its tables: no code, headings, pictures or lists of links. */
export function factsOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/<!-- figures[^]*?<!-- \/figures -->|^ *```[^]*?^ *```$|<!--[^]*?-->|^#.*$|^!\[.*$/gm, '\n')
    .replaceAll(/^(?:- |\d+\. )/gm, '\n');
  const sentences = prose.split(/\n\s*\n/).map((block) => block.trim()).flatMap((block) =>
    block.startsWith('|')
      ? block.split('\n').slice(2).map((row) =>
        row.replaceAll(/ *\| */g, ' | ').replace(/^ \| /, '').replace(/ \| $/, '')
      )
      : block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?][)”]?) (?=[“"'`([*]*[A-Z`])/)
  );
  const isList = (text: string): boolean =>
    / \| .*\]\(/.test(text) && text.replace(/^[^|]*/, '').replaceAll(/!?\[[^\]]*\]\([^)]*\)|[\s|,]/g, '') === '';
  return sentences.filter((text) =>
    /\w/.test(text) && !instructions.test(text) && !isList(text) && !text.startsWith('![')
  );
}

/** What proves a sentence. */
export interface Proof {
  readonly kind: 'test' | 'file' | 'figure' | 'source' | 'none';
  /** The path from the root, or `docs/figures.md`. */
  readonly file: string;
  readonly words: string;
}

/** A row of the list. */
export interface Claim {
  readonly page: string;
  /** The first words of the sentence. */
  readonly start: string;
  readonly proofs: readonly Proof[];
}

function proofOf(text: string): Proof {
  const [, place = '', words = ''] = /^(.+?): (.*)$/.exec(text) ?? [];
  if (place === 'figure') return { kind: 'figure', file: 'docs/figures.md', words };
  if (place === 'source' || place === 'none') return { kind: place, file: '', words };
  const isTest = /\.test\.tsx?$|^fixtures\//.test(place);
  return { kind: isTest ? 'test' : 'file', file: isTest ? join('test', place) : place, words };
}

const blockOf = (heading: string): string[] =>
  (list.split(`\n## ${heading}\n`)[1]?.split('```')[1] ?? '').split('\n').slice(1).filter((line) => line !== '');

/** The pages of the list, each with its rows. */
export const claims: ReadonlyMap<string, readonly Claim[]> = new Map(
  ['README.md', 'docs/security.md', 'docs/runs.md'].map((page) => [
    page,
    blockOf(page).flatMap((line) => {
      const [starts = '', proofs = ''] = line.split(' → ');
      const proven = proofs.split('; ').map(proofOf);
      return startsIn(starts, page).map((start) => ({ page, start, proofs: proven }));
    }),
  ]),
);

/** The starts of a row. A bar also separates the cells of a row of a table, so it ends a start only where a sentence begins behind it. */
function startsIn(text: string, page: string): string[] {
  const facts = factsOf(read(page));
  return text.split(' | ').reduce<string[]>((starts, part) => {
    const begins = facts.some((fact) => fact.startsWith(part));
    if (begins || starts.length === 0) return [...starts, part];
    return [...starts.slice(0, -1), `${starts.at(-1)} | ${part}`];
  }, []);
}

/** What each named source is: an address, a version and a date. */
export const sources: ReadonlyMap<string, string> = new Map(
  blockOf('Sources').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
);

/** Returns the row of a sentence. A row of a table that links to tests is its own. */
export function claimOf(page: string, fact: string): Claim | undefined {
  const links = [...fact.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)];
  const proofs = links.map(([, words = '', file = '']): Proof => ({ kind: 'test', file, words }));
  if (fact.includes(' | ') && proofs.length > 0) return { page, start: fact.split(' | ')[0]!, proofs };
  return claims.get(page)?.find(({ start }) => fact.startsWith(start));
}

function linkTo({ kind, file, words }: Proof): string {
  if (kind === 'none') return `nothing to prove: ${words}`;
  return kind === 'source' ? sources.get(words) ?? words : `[${words}](${file})`;
}

if (process.argv[1] === import.meta.filename) {
  const missing: string[] = [];
  for (const page of claims.keys()) {
    console.log(`\n## ${page}\n`);
    for (const fact of factsOf(read(page))) {
      const claim = claimOf(page, fact);
      if (claim) {
        console.log(
          `- ${fact.replace(/ \|[^|]*\]\(\.\.\/test.*$/, '')}\n  - ${claim.proofs.map(linkTo).join('\n  - ')}`,
        );
      } else missing.push(`- ${page}: ${fact}`);
    }
  }
  console.log(missing.length === 0 ? '\nEvery sentence has a row.' : `\nWithout a row:\n\n${missing.join('\n')}`);
}
