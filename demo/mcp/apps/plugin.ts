/** Adds the frame of MCP apps to builds: a page of its own, because it has another policy than the playground. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const own = 'http://127.0.0.1:* http://localhost:*'; // apps of servers on this machine

/**
 * The policy of `frame.html`: what apps may do at most. Each has a policy of its own within it, see `app-document.ts`. The app
 * inherits its document, whose navigation `frame-src` forbids.
 */
const framePolicy = [
  "default-src 'none'",
  `script-src 'unsafe-inline' https: ${own}`,
  `style-src 'unsafe-inline' https: ${own}`,
  `img-src data: blob: https: ${own}`,
  `font-src data: https: ${own}`,
  `media-src data: blob: https: ${own}`,
  `connect-src https: wss: ${own} ws://127.0.0.1:* ws://localhost:*`,
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

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
