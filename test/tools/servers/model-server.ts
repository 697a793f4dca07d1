/** A model server as people run it: the list of its models, and chat completions as a stream. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ModelServerOptions {
  readonly models?: readonly string[];
  /** Requests need one of these as bearer token. */
  readonly keys?: ReadonlySet<string>;
  /** Whether it allows web pages. Without, it answers 403 as Ollama does. */
  readonly allowsPages?: boolean;
  /** It is busy for the first requests: each is refused with a pause of so many seconds. */
  readonly pauses?: readonly number[];
  /** It refuses every request for an answer with this status and message. */
  readonly refuses?: readonly [status: number, message: string];
}

export interface ModelServer {
  readonly origin: string;
  /** `METHOD /path` of each request, without preflights. */
  readonly requests: readonly string[];
  /** The body of each request for an answer. */
  readonly bodies: readonly {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  }[];
  close(): void;
}

/** Starts a server on a free port of 127.0.0.1. Its answers repeat the last message. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: string[] = [];
  const bodies: Body[] = [];
  const pauses = [...options.pauses ?? []];
  const server = createServer((request, response) =>
    void answer(request, response, { ...options, pauses, requests, bodies })
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    requests,
    bodies,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Body = ModelServer['bodies'][number];

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { models = ['small'], keys, allowsPages = true, pauses, refuses, requests, bodies }: ModelServerOptions & {
    pauses: number[];
    requests: string[];
    bodies: Body[];
  },
): Promise<void> {
  if (!allowsPages) return void response.writeHead(403).end();
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
  response.setHeader('access-control-allow-headers', 'authorization, content-type');
  response.setHeader('access-control-expose-headers', 'retry-after');
  if (request.method === 'OPTIONS') return void response.writeHead(204).end();
  requests.push(`${request.method} ${request.url}`);
  const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
  if (keys?.has(key) === false) return json(response, 401, { error: { message: `No account has the key ${key}` } });
  if (request.url?.endsWith('/models')) return json(response, 200, { data: models.map((id) => ({ id })) });
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Uint8Array>)).toString();
  const asked = JSON.parse(body) as Body; // OpenAI's format
  bodies.push(asked);
  const { model, messages } = asked;
  if (!models.includes(model)) {
    return json(response, 404, { error: { message: `The model "${model}" does not exist` } });
  }
  if (refuses) return json(response, refuses[0], { error: { message: refuses[1] } });
  const pause = pauses.shift();
  if (pause !== undefined) {
    response.setHeader('retry-after', `${pause}`);
    return json(response, 429, { error: { message: `Rate limit of ${model} reached for key ${key}` } });
  }
  const said = JSON.stringify(messages.at(-1)?.content);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of [{ content: `${model} read ${said}` }, {}]) {
    const choice = { index: 0, delta, finish_reason: 'content' in delta ? null : 'stop' };
    response.write(`data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
