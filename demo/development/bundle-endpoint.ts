/** Bundles the sample endpoint into one file, which starts faster than its modules: `node demo/development/bundle-endpoint.ts FILE`. */

import { basename, dirname, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

/** Writes the bundle of `demo/server.ts` to this file. */
export async function bundleEndpoint(file: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error', // what stays outside are Deno's own built-ins
    root: resolve(import.meta.dirname, '..'),
    resolve: {
      alias: { '@ai-sdk/gateway': resolve(import.meta.dirname, '../no-gateway.ts') },
      conditions: ['deno', 'worker', 'browser', 'import'],
    },
    build: {
      target: 'es2024',
      outDir: dirname(resolve(file)),
      emptyOutDir: false,
      minify: true,
      ssr: true,
      rolldownOptions: {
        input: resolve(import.meta.dirname, '../server.ts'),
        output: { entryFileNames: basename(file), codeSplitting: false },
      },
    },
    ssr: { noExternal: true, target: 'webworker' },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await bundleEndpoint(process.argv[2] ?? 'dist-demo/endpoint.js');
}
