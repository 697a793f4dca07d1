import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../../src');

/** The modules that a file loads on demand, as paths in `src`. */
async function loadedBy(path: string): Promise<readonly string[]> {
  const text = (await readFile(join(root, path), 'utf8')).replaceAll(/^\s*\*.*$/gm, '');
  return [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, to = '']) =>
    relative(root, join(root, dirname(path), to))
  );
}

it('a simulation loads everything before its time is virtual that a runtime loads on demand', async () => {
  const preloaded = await loadedBy('simulation/preload.ts');
  const files = (await readdir(root, { recursive: true })).filter((path) => path.endsWith('.ts'));
  const ofRuntimes = files.filter((path) => !/^(simulation|evals|registry)\//.test(path));
  const loaded = new Set((await Promise.all(ofRuntimes.map(loadedBy))).flat());
  expect(loaded.size).toBeGreaterThan(20); // the search finds modules at all
  expect([...loaded].filter((path) => !preloaded.includes(path)), 'add to src/simulation/preload.ts').toEqual([]);
});
