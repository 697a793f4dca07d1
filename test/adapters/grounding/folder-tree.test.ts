import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderTree } from '../../../adapters/grounding/code/folder-tree.ts';
import { codeSource } from '../../../adapters/grounding/code-repo.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

const hasFiles = 'Deno' in globalThis || 'process' in globalThis;
const question = { tenant: 'local', query: 'sym:needle', topK: 9, filters: [] };

describe.skipIf(!hasFiles)('folderTree', () => {
  let folder = '';

  beforeAll(async () => {
    const { mkdir, mkdtemp, symlink, writeFile } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    folder = await mkdtemp(`${tmpdir()}/pinnace-folder-`);
    await mkdir(`${folder}/src`);
    await mkdir(`${folder}/.git`);
    await writeFile(`${folder}/src/a.ts`, 'export function needle() {\n  return 1;\n}\n');
    await writeFile(`${folder}/.git/config`, 'needle');
    await symlink('/etc', `${folder}/outside`);
  });

  afterAll(async () => {
    const { rm } = await import('node:fs/promises');
    await rm(folder, { recursive: true });
  });

  it('reads a folder of the machine, nothing hidden and nothing behind links', async () => {
    const source = codeSource({ id: 'code', tree: () => folderTree(folder, { repo: 'r' }) });
    const [hit, ...others] = await source.retrieve(question, neverAborted());
    expect(hit?.source).toMatchObject({ path: 'src/a.ts', lines: [1, 4] });
    expect(others).toEqual([]);
    expect((await source.stats('local', neverAborted())).items).toBe(1);
  });

  it('fails for a folder that is not there, and stops with the signal', async () => {
    const missing = codeSource({ id: 'code', tree: () => folderTree(`${folder}/none`, { repo: 'r' }) });
    await expect(missing.retrieve(question, neverAborted())).rejects.toThrow('none');
    const { files } = await folderTree(folder, { repo: 'r' })(AbortSignal.abort());
    await expect(Array.fromAsync(files)).rejects.toThrow('aborted');
  });
});
