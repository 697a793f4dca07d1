/** Adds the page's Content-Security-Policy to builds. Vite's dev server puts styles and scripts into the page and needs none. */

import type { Plugin } from 'vite';

/** What the built page may load and reach. A worker has the policy of its own answer: servers should send this one too. */
export const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'connect-src *',
  "img-src 'self' data:",
  "frame-src 'self'", // the frame of MCP apps, demo/mcp/apps/frame.html, which has a policy of its own
  "worker-src 'self' data:", // code tools run in workers made of data, with an origin of their own
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types pinnace pinnace-sandbox', // demo/app/worker/trusted.ts, adapters/sandbox/trusted.ts
].join('; ');

/** Returns the plugin; the policy comes before everything that it governs. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: 'pinnace-csp',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}
