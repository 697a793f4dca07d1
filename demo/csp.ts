/** Adds the page's Content-Security-Policy to builds. Vite's dev server puts styles and scripts into the page and needs none. */

import type { Plugin } from 'vite';

/** What the built page may load and reach. A worker has the policy of its own answer: servers should send this one too. */
export const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // People add model and MCP servers while the page runs, also in their own network: only other protocols are left out.
  "connect-src 'self' https: http:",
  "img-src 'self' data:",
  "frame-src 'self'", // the frame of MCP apps, demo/mcp/apps/frame.html, which has a policy of its own
  "worker-src 'self' data:", // code tools run in workers made of data, with an origin of their own
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  // demo/control/trusted.ts, adapters/sandbox/trusted.ts, demo/knowledge/worker/indexer.ts
  'trusted-types pinnace pinnace-sandbox default',
].join('; ');

/** Who may show the page in a frame: itself alone, so that no other page can lay an approval under a click. Only a header can say it. */
const framing = "frame-ancestors 'self'";

/** The policy as a header, for the page and for the script of its worker. */
export const headerPolicy = `${policy}; ${framing}`;

/** Returns the plugin; the policy comes before everything that it governs. Servers of the build add what no `meta` can say. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: 'pinnace-csp',
    configurePreviewServer({ middlewares }) {
      middlewares.use((_, response, next) => {
        response.setHeader('content-security-policy', framing); // the frame of MCP apps has a policy of its own
        next();
      });
    },
    transformIndexHtml: (_, { server }) =>
      server ? [] : [
        {
          tag: 'meta',
          attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
          injectTo: 'head-prepend',
        },
      ],
  };
}
