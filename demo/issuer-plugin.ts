/** Certifies the playground's own key on a developer's machine: a route of the development server, for its own page alone. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, ViteDevServer } from 'vite';
import type { CertificateIssuer } from '../adapters/transport/issuer.ts';

const path = '/development/certificate';
const mostBytes = 2048;
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** Gives the plugin, for the development server and for the preview of a build. A build itself has no issuer. */
export function developmentIssuerPlugin(issuer: CertificateIssuer): Plugin {
  const serve = ({ middlewares }: Pick<ViteDevServer, 'middlewares'>): void =>
    void middlewares.use(path, (request, response) => void answer(issuer, { request, response }));
  return {
    name: 'pinnace-development-issuer',
    apply: 'serve',
    // What the worker that signs imports: a dependency found later would make the development server reload the page.
    config: () => ({ optimizeDeps: { entries: ['endpoint-worker.ts'] } }),
    configureServer: serve,
    configurePreviewServer: serve,
  };
}

async function answer(
  issuer: CertificateIssuer,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  const refused = refusalOf(request);
  if (refused !== undefined) return void response.writeHead(refused).end();
  try {
    const certificate = await certify(issuer, await readBody(request));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ certificate }));
  } catch {
    response.writeHead(400).end();
  }
}

/** Only pages of this very server may ask: no other site, and no name that was pointed to this machine. */
function refusalOf({ method, headers }: IncomingMessage): number | undefined {
  const { host = '', origin } = headers;
  if (method !== 'POST') return 405;
  if (!loopback.test(host) || origin !== `http://${host}`) return 403;
  return headers['content-type'] === 'application/json' ? undefined : 415;
}

async function certify(issuer: CertificateIssuer, body: string): Promise<string> {
  const publicKey = await crypto.subtle.importKey('jwk', JSON.parse(body), 'Ed25519', true, ['verify']);
  return await issuer.certify({
    sub: 'playground',
    tenant: 'development',
    agents: '*',
    // A developer's own page on their own machine: it is the console, too.
    scopes: ['run:create', 'run:read', 'run:cancel', 'tool:approve', 'registry:read', 'registry:write', 'admin'],
    deployment: true,
    publicKey,
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > mostBytes) throw new Error('The body is too long');
  }
  return body;
}
