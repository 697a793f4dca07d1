/** Serves MCP servers of the SDK with `node:http`. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createMcpHandler, type McpServer, type Server } from '@modelcontextprotocol/server';

export type MakeMcpServer = () => McpServer | Server;

/** An MCP server behind `node:http`. */
export function mcpListener(make: MakeMcpServer): RequestListener {
  const handler = createMcpHandler(() => make());
  return (request, response) => void answer(request, response, (asked) => handler.fetch(asked));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  const { method = 'GET', url = '/' } = request;
  const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
  const answered = await handle(
    new Request(new URL(url, `http://${headers.get('host')}`), { method, headers, ...body }),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  for await (const chunk of answered.body ?? []) response.write(chunk);
  response.end();
}
