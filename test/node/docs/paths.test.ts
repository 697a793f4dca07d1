import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

/** The paths in the README's drawing of the folders: each line names paths below the last folder without indentation. */
function pathsOfTree(drawing: string): string[] {
  let folder = '';
  return drawing.split('\n').filter((line) => line.trim() !== '').flatMap((line) => {
    const names = line.trim().split(/ {2,}/)[0]?.split(' ') ?? [];
    if (line.startsWith(' ')) return names.map((name) => join(folder, name));
    [folder = ''] = names;
    return names;
  });
}

describe('the README', async () => {
  const paths = pathsOfTree(/```text\n(src\/[^]*?)```/.exec(await read('README.md'))?.[1] ?? '');

  it('names only files and folders that exist in its architecture', async () => {
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) await expect(access(join(root, path)), path).resolves.toBeUndefined();
  });

  it('names every folder of src in its architecture', async () => {
    const entries = await readdir(join(root, 'src'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join('src', name, '/'));
    expect(folders.filter((folder) => !paths.includes(folder))).toEqual([]);
  });
});

describe('CONTRIBUTING', async () => {
  const stops = [...(await read('CONTRIBUTING.md')).matchAll(/^\d+\. `([^`]+\.ts)`: ((?:.|\n {3,4}\S)+)/gm)]
    .map(([, path = '', text = '']) => ({ path, text }));

  it('follows one request from the HTTP handler to the event stream', () => {
    expect(stops).toHaveLength(12);
    expect(stops[0]?.path).toMatch(/^adapters\/transport\/handler/);
    expect(stops.at(-1)?.path).toMatch(/sse/);
  });

  it.each(stops)(
    'names what a file exports, and describes it in at most three sentences: $path',
    async ({ path, text }) => {
      const [, name = ''] = /^`(\w+)`/.exec(text) ?? [];
      expect(await read(path)).toMatch(new RegExp(`^export (?:async )?(?:function|class|interface) ${name}\\b`, 'm'));
      expect(text.split(/[.!?](?:\s|$)/).filter((sentence) => sentence.trim() !== '').length).toBeLessThanOrEqual(3);
    },
  );
});
