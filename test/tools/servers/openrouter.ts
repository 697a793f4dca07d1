/** OpenRouter's sign-in as it is documented (https://openrouter.ai/docs/use-cases/oauth-pkce), and its models behind the keys. */

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ModelServer, startModelServer } from './model-server.ts';

/** A running stand-in. */
export interface OpenRouter {
  readonly origin: string;
  readonly keys: ReadonlySet<string>;
  close(): void;
}

/** Starts the stand-in. Its page for signing in has the buttons “Authorize” and “Decline”. */
export async function startOpenRouter(): Promise<OpenRouter> {
  const keys = new Set<string>();
  const models = await startModelServer({ models: ['openrouter/auto', 'free/small'], keys });
  const challenges = new Map<string, { readonly challenge: string; readonly method: string }>();
  const server = createServer((request, response) => void answer(request, response, { keys, challenges, models }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    keys,
    close() {
      models.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

interface State {
  readonly keys: Set<string>;
  readonly challenges: Map<string, { readonly challenge: string; readonly method: string }>;
  readonly models: ModelServer;
}

async function answer(
  request: IncomingMessage,
  response: Parameters<RequestListener>[1],
  { keys, challenges, models }: State,
): Promise<void> {
  const { pathname, searchParams, search } = new URL(request.url ?? '', 'http://openrouter.test');
  const refuse = (status: number, message: string): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', 'authorization, content-type');
  if (request.method === 'OPTIONS') return void response.writeHead(204).end();
  if (pathname === '/auth') {
    const page = `<a href="/authorized${search.replaceAll('&', '&amp;')}">Authorize</a>` +
      `<a href="${searchParams.get('callback_url')}">Decline</a>`;
    return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  }
  if (pathname === '/authorized') {
    const code = randomUUID();
    const method = searchParams.get('code_challenge_method') ?? 'plain';
    challenges.set(code, { challenge: searchParams.get('code_challenge') ?? '', method });
    const back = new URL(searchParams.get('callback_url') ?? '');
    back.searchParams.append('code', code);
    return void response.writeHead(302, { location: back.href }).end();
  }
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Uint8Array>)).toString();
  if (pathname !== '/api/v1/auth/keys') {
    const { authorization = '' } = request.headers;
    const forwarded = await fetch(`${models.origin}${pathname}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== '' && { body }),
    });
    const type = forwarded.headers.get('content-type') ?? '';
    return void response.writeHead(forwarded.status, { 'content-type': type }).end(await forwarded.text());
  }
  if (request.method !== 'POST') return refuse(405, 'Method Not Allowed');
  const sent = JSON.parse(body) as Record<'code' | 'code_verifier' | 'code_challenge_method', string>; // as documented
  const known = challenges.get(sent.code);
  challenges.delete(sent.code);
  if (known && known.method !== sent.code_challenge_method) return refuse(400, 'Invalid code_challenge_method');
  const isRight = known?.challenge === createHash('sha256').update(sent.code_verifier).digest('base64url');
  if (!isRight) return refuse(403, 'Invalid code or code_verifier');
  const key = `sk-or-v1-${randomUUID()}`;
  keys.add(key);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ key, user_id: 'user_1' }));
}
