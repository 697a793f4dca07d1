/** Builds the playground once for all tests of a run, and serves it as a plain file server would. */

import { join } from 'node:path';
import { build, preview } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the built playground is. */
    readonly playground: string;
    readonly playgroundFolder: string;
  }
}

const root = join(import.meta.dirname, '../../..');
const configFile = join(root, 'vite.config.ts');
/** A separate folder, because the output of `npm run build` may be in use. */
const outDir = join(root, 'node_modules/.cache/playground');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build({ configFile, logLevel: 'warn', build: { outDir, sourcemap: false } });
  const server = await preview({ configFile, preview: { port: 0 }, build: { outDir } });
  project.provide('playgroundFolder', outDir);
  project.provide('playground', server.resolvedUrls?.local[0] ?? '');
  return () => server.close();
}
