/** Adds the callback page of sign-ins to builds: apart from the page's own scripts, which it does not need. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { policy } from '../csp.ts';

/** Returns the plugin. The dev server serves the files as they are. */
export function signInCallback(): Plugin {
  return {
    name: 'pinnace-sign-in-callback',
    apply: 'build',
    generateBundle() {
      for (const name of ['callback.html', 'callback.css', 'callback.js']) {
        const source = readFileSync(join(import.meta.dirname, name), 'utf8');
        const meta = `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`;
        this.emitFile({ type: 'asset', fileName: `oauth/${name}`, source: source.replace('<head>', meta) });
      }
    },
  };
}
