/** An MCP server in plain code, as a function from requests to answers: what it answers to a method can be replaced. */

/** The protocol: `legacy` up to 2025-11-25 with sessions, `modern` 2026-07-28 without. */
export type Era = 'legacy' | 'modern';

/** A message as it came. */
export interface Asked {
  readonly request: Request;
  readonly id?: string | number;
  /** Of the message; of a request without one, the HTTP method. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What is answered to one method; with nothing, what the peer would have answered. */
export type Answer = (asked: Asked) => Response | undefined | Promise<Response | undefined>;

/** A server, and what it has seen. */
export interface Peer {
  readonly handle: (request: Request) => Promise<Response>;
  readonly seen: readonly Asked[];
  /** The messages of one method. */
  of(method: string): readonly Asked[];
  /** Forgets all sessions. */
  forget(): void;
}

/** The tool that the peer lists and calls. */
export const echo = {
  name: 'echo',
  description: 'Says what it is told',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { readOnlyHint: true },
};

/** What the peer says of itself. */
export const about = { name: 'peer', version: '1.2.3', instructions: 'Speak up' };

/** Makes a server. */
export function createPeer(era: Era, on: Readonly<Record<string, Answer>> = {}): Peer {
  const seen: Asked[] = [];
  const sessions = new Set<string>();
  let begun = 0;
  const begin = (asked: Asked): Response => {
    const session = `session-${++begun}`;
    sessions.add(session);
    return result(asked, initialized, { 'mcp-session-id': session });
  };
  return {
    seen,
    of: (method) => seen.filter((asked) => asked.method === method),
    forget: () => sessions.clear(),
    async handle(request) {
      const asked = await read(request);
      seen.push(asked);
      const own = await on[asked.method]?.(asked);
      if (own !== undefined) return own;
      if (era === 'modern') return answerModern(asked);
      if (asked.method === 'initialize') return begin(asked);
      if (asked.method === 'server/discover') return failure(asked, -32_601);
      const session = request.headers.get('mcp-session-id') ?? '';
      return sessions.has(session) ? answer(asked) : new Response('No such session', { status: 404 });
    },
  };
}

async function read(request: Request): Promise<Asked> {
  if (request.method !== 'POST') return { request, method: request.method, params: {} };
  const message = await request.clone().json() as Partial<Asked>;
  return { request, method: '(answer)', params: {}, ...message };
}

const capabilities = { tools: {} };
const { instructions, ...serverInfo } = about;
const initialized = { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions };

function answer(asked: Asked): Response {
  if (asked.method === 'GET') return new Response(null, { status: 405 });
  if (asked.method === 'DELETE') return new Response(null, { status: 200 });
  if (asked.id === undefined) return new Response(null, { status: 202 });
  if (asked.method === 'tools/list') return result(asked, { tools: [echo] });
  if (asked.method === 'tools/call') return result(asked, said(asked));
  return failure(asked, -32_601);
}

function said({ params }: Asked): object {
  const { text } = params['arguments'] as { readonly text?: unknown };
  return { content: [{ type: 'text', text }] };
}

/** Fields that every list of 2026-07-28 has. */
export const listFields = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

function answerModern(asked: Asked): Response {
  if (asked.method === 'server/discover') {
    const supportedVersions = ['2026-07-28'];
    const meta = { _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } };
    return result(asked, { ...listFields, ...meta, supportedVersions, capabilities, instructions });
  }
  if (asked.method === 'initialize') return unsupported(asked, ['2026-07-28']);
  if (asked.method === 'tools/list') return result(asked, { ...listFields, tools: [echo] });
  if (asked.method === 'tools/call') return result(asked, { resultType: 'complete', ...said(asked) });
  return failure(asked, -32_601, { status: 404 });
}

/** Gives the answer of a server that speaks other revisions. */
export function unsupported(asked: Asked, supported: readonly string[]): Response {
  return failure(asked, -32_022, { status: 400, data: { supported, requested: '2026-07-28' } });
}

/** Gives a result as JSON. */
export function result({ id }: Asked, value: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers });
}

/** What no error may repeat. */
export const serverText = 'the text of the server';

/** Gives an error of JSON-RPC. */
export function failure(
  { id }: Asked,
  code: number,
  { status = 200, data }: { readonly status?: number; readonly data?: unknown } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message: serverText, data } }, { status });
}

/** Gives an answer of server-sent events; without an end, it stays open until the client leaves. */
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

/** Gives one event with a message. */
export function event(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}
