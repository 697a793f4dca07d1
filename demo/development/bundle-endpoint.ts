/**
 * Bundles the sample endpoint, which then starts faster than from its modules: `node demo/development/bundle-endpoint.ts FILE` writes
 * the file that the server loads, and beside it the folder `chunks` with what is loaded when it is needed.
 */

import { basename, dirname, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

/** Writes the bundle of a module, `demo/server.ts` when absent, to this file. */
export async function bundleEndpoint(
  file: string,
  input = resolve(import.meta.dirname, '../server.ts'),
): Promise<void> {
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
        input,
        output: { entryFileNames: basename(file), chunkFileNames: 'chunks/[name]-[hash].js', codeSplitting: true },
      },
    },
    ssr: { noExternal: true, target: 'webworker' },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await bundleEndpoint(process.argv[2] ?? 'dist-demo/endpoint.js');
}
