/** Certifies the playground's own key on a developer's machine: a route of the development server, for its own page alone. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, ViteDevServer } from 'vite';
import type { CertificateIssuer } from '../../adapters/transport/issuer.ts';

const path = '/development/certificate';
const mostBytes = 2048;
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

const cookieName = 'pinnace-development';

/** Who may have a key certified. */
interface Access {
  readonly issuer: CertificateIssuer;
  /** Set as a cookie with the page, at each start anew: a page of another port or site does not have it. */
  readonly pageToken: string;
  /** For `npm run ask`. */
  readonly askToken: string | undefined;
}

/** Returns the plugin, for the development server and for the preview of a build. A build itself has no issuer. */
export function developmentIssuerPlugin(
  issuer: CertificateIssuer,
  { askToken }: { readonly askToken?: string } = {},
): Plugin {
  const access: Access = { issuer, pageToken: crypto.randomUUID(), askToken };
  const cookie = `${cookieName}=${access.pageToken}; HttpOnly; SameSite=Strict; Path=${path}`;
  const serve = ({ middlewares }: Pick<ViteDevServer, 'middlewares'>): void => {
    middlewares.use((request, response, next) => {
      if (isLocal(request) && request.headers.accept?.includes('text/html')) response.setHeader('set-cookie', cookie);
      next();
    });
    middlewares.use(path, (request, response) => void answer(access, { request, response }));
  };
  return {
    name: 'pinnace-development-issuer',
    apply: 'serve',
    // What the worker that signs imports: a dependency found later would make the development server reload the page.
    config: () => ({ optimizeDeps: { entries: ['endpoint/worker/endpoint-worker.ts'] } }),
    configureServer: serve,
    configurePreviewServer: serve,
  };
}

async function answer(
  access: Access,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  const caller = callerOf(request, access);
  const refused = refusalOf(request, caller);
  if (refused !== undefined) return void response.writeHead(refused).end();
  try {
    const certificate = await certify(access.issuer, await readBody(request), caller === 'ask' ? asking : showing);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ certificate }));
  } catch {
    response.writeHead(400).end();
  }
}

/** Whether the request names this machine: no name of a site that was pointed here. */
function isLocal({ headers: { host = '' } }: IncomingMessage): boolean {
  return loopback.test(host);
}

/** The caller: a page of this server, a command of its user, or neither. */
function callerOf(
  { headers: { host = '', origin, authorization = '', cookie = '' } }: IncomingMessage,
  { pageToken, askToken }: Access,
): 'page' | 'ask' | undefined {
  if (askToken !== undefined && isSame(authorization, `Bearer ${askToken}`)) return 'ask';
  const tokens = cookie.split('; ').filter((one) => one.startsWith(`${cookieName}=`));
  const hasToken = tokens.some((one) => isSame(one, `${cookieName}=${pageToken}`));
  return hasToken && origin === `http://${host}` ? 'page' : undefined;
}

/** Compares digests, so that the time says nothing about where they differ. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function refusalOf(request: IncomingMessage, caller: ReturnType<typeof callerOf>): number | undefined {
  if (request.method !== 'POST') return 405;
  if (!isLocal(request) || caller === undefined) return 403;
  return request.headers['content-type'] === 'application/json' ? undefined : 415;
}

type Session = Omit<Parameters<CertificateIssuer['certify']>[0], 'publicKey'>;

/** A developer's own page on their own machine: it is the console, too. */
const showing: Session = {
  subject: 'playground',
  tenant: 'development',
  agents: '*',
  scopes: ['run:create', 'run:read', 'run:cancel', 'tool:approve', 'registry:read', 'registry:write', 'admin'],
  deployment: true,
};

const asking: Session = {
  subject: 'ask',
  tenant: 'development',
  agents: '*',
  scopes: ['run:create', 'run:read', 'run:cancel'],
};

async function certify(issuer: CertificateIssuer, body: string, session: Session): Promise<string> {
  const publicKey = await crypto.subtle.importKey('jwk', JSON.parse(body), 'Ed25519', true, ['verify']);
  return await issuer.certify({ ...session, publicKey });
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > mostBytes) throw new Error('The body is too long');
  }
  return body;
}
