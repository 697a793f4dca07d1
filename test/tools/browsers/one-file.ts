/** Bundles code for a page or a worker of a test. */

import { build, type Rolldown } from 'vite';
import { alias } from '../../../demo/alias.ts';

/** Returns the module and all that it imports as the code of one file: a module, or a script where `format` is `iife`. */
export async function oneFile(path: string, format: 'es' | 'iife' = 'es'): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { alias: [...alias] },
    build: {
      write: false,
      target: 'es2024',
      rolldownOptions: { input: path, output: { format, codeSplitting: false } },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput; // nothing is watched
  return output[0].code;
}
