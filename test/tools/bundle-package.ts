/**
 * Makes the JavaScript of `dist/`, or of the folder that is named, and removes the declarations that no entry leads to. Editors go from
 * the functions of the entries to their sources, which are in `sources/`. Each entry is
 * a file at its own path; what several share are chunks beside them, so that a server loads some 100 files less when it starts. No
 * entry loads a module that its source does not lead to. Comments of tools stay.
 */

import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { type Plugin, rolldown } from 'rolldown';
import { publicValues } from './docstrings.ts';

const root = join(import.meta.dirname, '../..');
const dist = process.argv[2] ?? join(root, 'dist');
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
  Record<'exports' | 'bin', Readonly<Record<string, string>>>
>;
/** Started by its address, with `new URL`. */
const workers = ['adapters/grounding/pdf-worker'];
const entries = [...Object.values(exports), ...Object.values(bin)].map((path) =>
  path.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, '')
);

/** Points the addresses of workers to their files, from the chunk that starts them. */
const workerAddresses: Plugin = {
  name: 'worker-addresses',
  renderChunk(code, { fileName }) {
    return code.replaceAll(
      /new URL\((["'])\.\/([\w-]+)\.ts\1, import\.meta\.url\)/g,
      (_, quote: string, name: string) => {
        const worker = workers.find((path) => path.endsWith(`/${name}`));
        if (worker === undefined) {
          throw new Error(
            `${name} is started as a worker, and is not in the list of ${import.meta.filename}`,
          );
        }
        const path = relative(dirname(fileName), `${worker}.js`);
        return `new URL(${quote}${path.startsWith('.') ? path : `./${path}`}${quote}, import.meta.url)`;
      },
    );
  },
};

/** The declarations that an entry leads to, by their paths. */
function reachableDeclarations(): ReadonlySet<string> {
  const open = entries.map((path) => join(dist, `${path}.d.ts`));
  const reached = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path) || !existsSync(path)) continue;
    reached.add(path);
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
      open.push(join(dirname(path), `${target}.d.ts`));
    }
  }
  return reached;
}

const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries([...entries, ...workers].map((path) => [path, `${path}.ts`])),
  platform: 'neutral',
  external: (id) => !/^(?:[./]|\w:)/.test(id), // packages, and modules of a platform
  plugins: [workerAddresses],
  treeshake: { moduleSideEffects: false },
});
await bundle.write({
  dir: dist,
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  comments: { jsdoc: false },
  minifyInternalExports: false,
});

/** Copies the source of a declaration, and lets its map lead there. */
function keepSource(path: string): void {
  const source = `${relative(dist, path).slice(0, -'.d.ts'.length)}.ts`;
  cpSync(join(root, source), join(dist, 'sources', source));
  const map = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as object;
  const sources = [relative(dirname(path), join(dist, 'sources', source))];
  writeFileSync(`${path}.map`, JSON.stringify({ ...map, sources }));
}

const reached = reachableDeclarations();
const withSource = new Set(publicValues(dist, entries.map((path) => `${path}.d.ts`)).map(({ path }) => path));
for (const name of globSync('**/*.d.ts', { cwd: dist })) {
  const path = join(dist, name);
  if (withSource.has(path)) {
    keepSource(path);
    continue;
  }
  rmSync(`${path}.map`, { force: true });
  if (!reached.has(path)) rmSync(path);
  else {
    const text = readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
    writeFileSync(path, text.replaceAll(/^(?: {4})+/gm, (spaces) => spaces.slice(spaces.length / 2)));
  }
}
