/** Writes the service worker beside a build, with the list of what the build consists of. */

import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';
import type { Build, BuiltFile } from './worker/build-files.ts';

const fileName = 'service-worker.js';

/** Returns the plugin. The dev server has no service worker: it would keep what is being changed. */
export function offline(): Plugin {
  let folder = '';
  return {
    name: 'pinnace-offline',
    apply: 'build',
    config: () => ({ define: { 'import.meta.env.PINNACE_OFFLINE': 'true' } }),
    configResolved({ root, build: { outDir } }) {
      folder = resolve(root, outDir);
    },
    closeBundle: {
      order: 'post',
      sequential: true,
      handler: () => writeServiceWorker(folder),
    },
  };
}

export async function writeServiceWorker(folder: string): Promise<void> {
  const [built, code] = await Promise.all([describeBuild(folder), bundle()]);
  await writeFile(join(folder, fileName), `const pinnaceBuild = ${JSON.stringify(built)};\n${code}`);
}

async function describeBuild(folder: string): Promise<Build> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name !== fileName && !entry.name.endsWith('.map'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  const all = await Promise.all(
    names.toSorted().map(async (name): Promise<BuiltFile> => ({
      path: name === 'index.html' ? '' : name.replaceAll(sep, '/'),
      integrity: `sha256-${createHash('sha256').update(await readFile(join(folder, name))).digest('base64')}`,
    })),
  );
  const version = createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16);
  const isDoc = ({ path }: BuiltFile): boolean => path.startsWith('docs/');
  return { version, files: all.filter((file) => !isDoc(file)), docs: all.filter(isDoc) };
}

/** A self-contained classic script: no browser needs modules in service workers for it. */
async function bundle(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    root: import.meta.dirname,
    build: {
      write: false,
      target: 'es2024',
      rolldownOptions: { input: join(import.meta.dirname, 'worker/service-worker.ts'), output: { format: 'iife' } },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  return output[0].code;
}
