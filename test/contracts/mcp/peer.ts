/** An MCP server in plain code, as a function from requests to answers. Tests can replace the answer to a method. */

/** The protocol: `legacy` up to 2025-11-25 with sessions, `modern` 2026-07-28 without. */
export type Era = 'legacy' | 'modern';

export interface PeerMessage {
  readonly request: Request;
  readonly id?: string | number;
  /** Of the message; of a request without one, the HTTP method. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Answers one method. If it returns nothing, the peer answers as usual. */
export type Answer = (message: PeerMessage) => Response | undefined | Promise<Response | undefined>;

/** A server, and the messages that it received. */
export interface Peer {
  readonly handle: (request: Request) => Promise<Response>;
  readonly received: readonly PeerMessage[];
  of(method: string): readonly PeerMessage[];
  forget(): void;
}

/** The tool that the peer lists and calls. */
export const echo = {
  name: 'echo',
  description: 'Says what it is told',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { readOnlyHint: true },
};

/** How the peer describes itself. */
export const about = { name: 'peer', version: '1.2.3', instructions: 'Speak up' };

/** Makes a server. */
export function createPeer(era: Era, on: Readonly<Record<string, Answer>> = {}): Peer {
  const received: PeerMessage[] = [];
  const sessions = new Set<string>();
  let started = 0;
  const startSession = (message: PeerMessage): Response => {
    const session = `session-${++started}`;
    sessions.add(session);
    return result(message, initialized, { 'mcp-session-id': session });
  };
  return {
    received,
    of: (method) => received.filter((message) => message.method === method),
    forget: () => sessions.clear(),
    async handle(request) {
      const message = await read(request);
      received.push(message);
      const own = await on[message.method]?.(message);
      if (own !== undefined) return own;
      if (era === 'modern') return answerModern(message);
      if (message.method === 'initialize') return startSession(message);
      if (message.method === 'server/discover') return failure(message, -32_601);
      const session = request.headers.get('mcp-session-id') ?? '';
      return sessions.has(session) ? answer(message) : new Response('No such session', { status: 404 });
    },
  };
}

async function read(request: Request): Promise<PeerMessage> {
  if (request.method !== 'POST') return { request, method: request.method, params: {} };
  const message = await request.clone().json() as Partial<PeerMessage>;
  return { request, method: '(answer)', params: {}, ...message };
}

const capabilities = { tools: {} };
const { instructions, ...serverInfo } = about;
const initialized = { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions };

function answer(message: PeerMessage): Response {
  if (message.method === 'GET') return new Response(null, { status: 405 });
  if (message.method === 'DELETE') return new Response(null, { status: 200 });
  if (message.id === undefined) return new Response(null, { status: 202 });
  if (message.method === 'tools/list') return result(message, { tools: [echo] });
  if (message.method === 'tools/call') return result(message, said(message));
  return failure(message, -32_601);
}

function said({ params }: PeerMessage): object {
  const { text } = params['arguments'] as { readonly text?: unknown };
  return { content: [{ type: 'text', text }] };
}

/** Fields that every list of 2026-07-28 has. */
export const listFields = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

function answerModern(message: PeerMessage): Response {
  if (message.method === 'server/discover') {
    const supportedVersions = ['2026-07-28'];
    const meta = { _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };
    return result(message, { ...listFields, ...meta, supportedVersions, capabilities, instructions });
  }
  if (message.method === 'initialize') return unsupported(message, ['2026-07-28']);
  if (message.method === 'tools/list') return result(message, { ...listFields, tools: [echo] });
  if (message.method === 'tools/call') return result(message, { resultType: 'complete', ...said(message) });
  return failure(message, -32_601, { status: 404 });
}

/** Returns the answer of a server that speaks other revisions. */
export function unsupported(message: PeerMessage, supported: readonly string[]): Response {
  return failure(message, -32_022, { status: 400, data: { supported, requested: '2026-07-28' } });
}

/** Returns a result as JSON. */
export function result({ id }: PeerMessage, value: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers });
}

/** Text of the server that no error may contain. */
export const serverText = 'the text of the server';

/** Returns an error of JSON-RPC. */
export function failure(
  { id }: PeerMessage,
  code: number,
  { status = 200, data }: { readonly status?: number; readonly data?: unknown } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message: serverText, data } }, { status });
}

/** Returns an answer of server-sent events; without an end, it stays open until the client leaves. */
export function events(texts: readonly string[], { open = false }: { readonly open?: boolean } = {}): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const text of texts) controller.enqueue(encoder.encode(text));
      if (!open) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

export function event(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}
