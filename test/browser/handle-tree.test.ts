import { describe, expect, it } from 'vitest';
import { handleTree } from '../../adapters/grounding/code/handle-tree.ts';
import { codeSource } from '../../adapters/grounding/code-repo.ts';
import { neverAborted } from '../fixtures/grounding.ts';

async function write(folder: FileSystemDirectoryHandle, name: string, text: string): Promise<void> {
  const file = await folder.getFileHandle(name, { create: true });
  const stream = await file.createWritable();
  await stream.write(text);
  await stream.close();
}

describe('handleTree', () => {
  it('reads a folder that the page was given, and nothing hidden', async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(`tree-${crypto.randomUUID()}`, { create: true });
    await write(await folder.getDirectoryHandle('src', { create: true }), 'a.ts', 'export class Needle {\n}\n');
    await write(await folder.getDirectoryHandle('.git', { create: true }), 'config', 'Needle');
    const source = codeSource({ id: 'code', tree: () => handleTree(folder, { repo: 'r' }) });
    const hits = await source.retrieve({ tenant: 'local', query: 'Needle', topK: 9, filters: [] }, neverAborted());
    expect(hits.map((hit) => hit.source.path)).toEqual(['src/a.ts']);
    expect(hits[0]?.confidence).toBeGreaterThanOrEqual(0.95);
    await root.removeEntry(folder.name, { recursive: true });
  });
});
