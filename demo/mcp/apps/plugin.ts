/** Adds the frame of MCP apps to builds: a page of its own, because it has another policy than the playground. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { framePolicy } from './frame-policy.ts';

const fileName = 'mcp/apps/frame.html';

/** Returns the plugin. The dev server serves the file as it is; a preview sends its policy instead of the page's. */
export function appFrame(): Plugin {
  return {
    name: 'pinnace-app-frame',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: frame() });
    },
    configurePreviewServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        if (URL.parse(request.url ?? '', 'http://local')?.pathname !== `/${fileName}`) return next();
        response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': framePolicy });
        response.end(frame());
      });
    },
  };
}

function frame(): string {
  const source = readFileSync(join(import.meta.dirname, 'frame.html'), 'utf8');
  return source.replace(
    '<head>',
    `<head>\n    <meta http-equiv="Content-Security-Policy" content="${framePolicy}">`,
  );
}
