/** Adds the documentation to builds and to the dev server. */

import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import type { Plugin } from 'vite';
import { siteFiles } from './site.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

/** Returns the plugin. The dev server renders the pages for each request, so they match the Markdown. */
export function docsSite(): Plugin {
  return {
    name: 'pinnace-docs',
    async generateBundle() {
      for (const [path, source] of await siteFiles()) {
        this.emitFile({ type: 'asset', fileName: `docs/${path}`, source });
      }
    },
    configureServer({ middlewares }) {
      middlewares.use('/docs', ({ url = '' }, response, next) => void serve(url, response, next));
    },
  };
}

async function serve(url: string, response: ServerResponse, next: (error?: unknown) => void): Promise<void> {
  try {
    const path = url.replace(/[?#].*/, '').slice(1) || 'index.html';
    const found = (await siteFiles()).get(path);
    if (found === undefined) return next();
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(found);
  } catch (error) {
    next(error);
  }
}
