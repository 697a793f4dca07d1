import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { expect, it } from 'vitest';
import { measuringTests } from '../../tools/run/selection.ts';

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

it('a test in virtual time has a process of its own: timers that others have left would be a part of it', async () => {
  const tests = join(root, '../test');
  const files = (await readdir(tests, { recursive: true })).filter((path) => path.endsWith('.test.ts'));
  const texts = await Promise.all(
    files.map(async (path) => [`test/${path}`, await readFile(join(tests, path), 'utf8')] as const),
  );
  const simulating = texts.filter(([, text]) =>
    /from '[./]+\/src\/simulation\/(?:index|virtual-time)[.]ts'/.test(text) && /\b(?:simulate|virtualTime)\(/.test(text)
  );
  expect(simulating.length).toBeGreaterThan(5);
  const isAlone = (path: string): boolean => measuringTests.some((pattern) => matchesGlob(path, pattern));
  expect(simulating.map(([path]) => path).filter((path) => !isAlone(path)), 'add to test/tools/run/selection.ts')
    .toEqual([]);
});
