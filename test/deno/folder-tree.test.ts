import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderTree } from '../../adapters/grounding/code/folder-tree.ts';
import { codeSource } from '../../adapters/grounding/code-repo.ts';
import { neverAborted } from '../fixtures/grounding.ts';

let folder = '';

beforeAll(async () => {
  folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/src`);
  await Deno.mkdir(`${folder}/.git`);
  await Deno.writeTextFile(`${folder}/src/a.ts`, 'export function needle() {\n  return 1;\n}\n');
  await Deno.writeTextFile(`${folder}/.git/config`, 'needle');
  await Deno.symlink('/etc', `${folder}/outside`);
});

afterAll(() => Deno.remove(folder, { recursive: true }));

describe('folderTree', () => {
  it('reads a folder of the machine, nothing hidden and nothing behind links', async () => {
    const source = codeSource({ id: 'code', tree: () => folderTree(folder, { repo: 'r' }) });
    const [hit, ...others] = await source.retrieve(
      { tenant: 'local', query: 'sym:needle', topK: 9, filters: [] },
      neverAborted(),
    );
    expect(hit?.source).toMatchObject({ path: 'src/a.ts', lines: [1, 4] });
    expect(others).toEqual([]);
    expect((await source.stats('local', neverAborted())).items).toBe(1);
  });
});
