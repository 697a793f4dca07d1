/** Every claim of the security and permission guides names a test that exists, by file and title. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const docs = ['security', 'permissions'] as const;

/** A cell such as `[keeps tenants apart](../test/scenarios/tenants.test.ts)`: the title, or a part of it, and the file. */
interface Proof {
  readonly title: string;
  readonly file: string;
}

/** The rows of the tables that have a column `proof`, as lists of the proofs that each names. */
function claimsOf(page: string): { readonly claim: string; readonly proofs: readonly Proof[] }[] {
  return page.split(/\n{2,}/)
    .filter((block) => /^\|.*\| *proof *\|$/m.test(block))
    .flatMap((table) => table.split('\n').slice(2).filter((row) => row.startsWith('|')))
    .map((row) => {
      const links = [...row.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)\s]+)\)/g)];
      const proofs = links.map(([, title = '', file = '']) => ({ title, file }));
      return { claim: row.split('|')[1]?.trim() ?? '', proofs };
    });
}

/** Titles in a source are quoted with any quotation mark, and may escape theirs. */
const plain = (text: string): string => text.replaceAll('\\', '').replaceAll('`', "'").replace(/\s+/g, ' ');

describe.each(docs)('docs/%s.md', async (name) => {
  const claims = claimsOf(await readFile(join(root, `docs/${name}.md`), 'utf8'));

  it('has claims', () => {
    expect(claims.length).toBeGreaterThan(5);
  });

  it.each(claims)('proves: $claim', async ({ proofs }) => {
    expect(proofs.length).toBeGreaterThan(0);
    for (const { title, file } of proofs) {
      const source = await readFile(join(root, file), 'utf8');
      expect(plain(source), `${file} has no test titled "${title}"`).toContain(plain(title));
    }
  });
});
