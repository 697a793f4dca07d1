/** A private certificate authority, and HTTPS servers with certificates of it: a model, an HTTP tool and an MCP server each. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { listen } from './http-server.ts';
import { mcpListener } from './mcp-listener.ts';

/** The certificates that a server may have. */
export type Certificate = 'valid' | 'expired' | 'otherHost' | 'selfSigned';

export interface TlsServers {
  /** The path of the authority's certificate. */
  readonly authority: string;
  readonly origins: Readonly<Record<Certificate, string>>;
  close(): void;
}

/** The name in the authority's certificate. */
export const authorityName = 'Shop Internal CA';

/** Starts a server for each certificate on a free port of 127.0.0.1. */
export async function startTlsServers(): Promise<TlsServers> {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  const path = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });
  const here = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const create = (name: string, subject: string, ...rest: string[]): Buffer => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    return openssl('req', ...curve, '-keyout', path(`${name}.key`), '-subj', subject, ...rest);
  };
  const issue = (name: Certificate, days: number, names: string): void => {
    create(name, `/CN=${name}`, '-addext', names, '-out', path(`${name}.csr`));
    const authority = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-CAcreateserial', '-copy_extensions', 'copy'];
    const files = ['-in', path(`${name}.csr`), '-out', path(`${name}.pem`)];
    openssl('x509', '-req', ...files, ...authority, '-days', String(days));
  };
  create('ca', `/O=Shop/CN=${authorityName}`, '-x509', '-out', path('ca.pem'));
  create('selfSigned', '/CN=localhost', '-x509', '-addext', here, '-out', path('selfSigned.pem'));
  issue('valid', 2, here);
  issue('expired', -1, here);
  issue('otherHost', 2, 'subjectAltName=DNS:other.internal');
  const servers = (['valid', 'expired', 'otherHost', 'selfSigned'] as const).map((name) => {
    const terms = { key: readFileSync(path(`${name}.key`)), cert: readFileSync(path(`${name}.pem`)) };
    return { name, server: createServer(terms, answer) };
  });
  const entries = await Promise.all(servers.map(async ({ name, server }) => {
    const { port } = new URL(await listen(server));
    return [name, `https://127.0.0.1:${port}`] as const;
  }));
  return {
    authority: path('ca.pem'),
    origins: Object.fromEntries(entries) as Record<Certificate, string>, // one entry of each
    close() {
      for (const { server } of servers) server.close().closeAllConnections();
      rmSync(folder, { recursive: true });
    },
  };
}

const mcp = mcpListener(() => {
  const server = new McpServer({ name: 'docs', version: '1.0.0' });
  server.registerTool('search', { description: 'Searches' }, () => ({ content: [] }));
  return server;
});

const answer: RequestListener = (request, response) => {
  if (request.url === '/mcp') return mcp(request, response);
  if (request.url === '/items') return void response.setHeader('content-type', 'application/json').end('{"left":7}');
  const chunk = { id: 'c', created: 1, model: 'small', choices: [{ index: 0, delta: { content: 'Hello' } }] };
  const last = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  response.setHeader('content-type', 'text/event-stream');
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
};
