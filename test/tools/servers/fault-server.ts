/** A server that speaks OpenAI's chat-completions streaming wire, and fails as the `model` of the request says. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, corsHeaders, listen, type TestServer } from './http-server.ts';

/** What happened under one base URL since the last reset. */
export interface FaultStats {
  requests: number;
  /** Answers that the client did not wait for. */
  disconnects: number;
}

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream_options?: { readonly include_usage?: boolean };
}

interface Exchange {
  readonly chat: ChatRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stats: FaultStats;
}

/** The faults by name; every other name is answered 404. */
const faults: Readonly<Record<string, (exchange: Exchange) => void>> = {
  'text': (exchange) => end(exchange, [text('Hello'), text(' from'), text(' the fault server'), finish('stop')]),
  'tool': (exchange) => endToolCall(exchange, [{}, '{"city"', ': "Ber', 'lin"}']),
  'bad-json-args': (exchange) => endToolCall(exchange, [{}, '{"city": ']),
  'unknown-tool': (exchange) => endToolCall(exchange, [{ name: 'no_such_tool' }, '{}']),
  'length': (exchange) => end(exchange, [text('Hello'), finish('length')]),
  '429': ({ response }) => fail(response, 429, 'Slow down', { 'retry-after': '3' }),
  '429-once': (exchange) =>
    exchange.stats.requests > 1
      ? faults['text']?.(exchange)
      : fail(exchange.response, 429, 'Slow down', { 'retry-after': '0' }),
  '500': ({ response }) => fail(response, 500, 'The server had an error'),
  '401': ({ request, response }) => fail(response, 401, `Incorrect API key provided: ${request.headers.authorization}`),
  // A browser that reads the cut together with the text forgets the text.
  'cut': ({ response }) =>
    write(response, [text('Hello'), text(' wor')], () => setTimeout(() => response.destroy(), 50)),
  'no-finish': ({ response }) => write(response, [text('Hello')], () => response.end()),
  'garbage': ({ response }) =>
    response.end(frame(text('Hello')) + 'data: {"choices": [}\n\n' + frame(finish('stop')) + done),
  'html': ({ response }) => response.setHeader('content-type', 'text/html; charset=utf-8').end('<h1>Welcome</h1>'),
  'json': ({ response }) => response.setHeader('content-type', 'application/json').end('{"choices":[]}'),
  'error-chunk': (exchange) =>
    end(exchange, [text('Hello'), { error: { message: 'Overloaded', type: 'server_error' } }]),
  'stall': ({ response }) => write(response, [text('Hello'), text(' wor')]),
  'never': () => undefined,
};

const done = 'data: [DONE]\n\n';

interface Scope {
  readonly stats: FaultStats;
  /** Those who wait for the counts to grow. */
  readonly watchers: Set<() => void>;
}

/**
 * Starts the server on 127.0.0.1. Any path before `/chat/completions` is a base URL with its own counts.
 * `GET <base URL>/__stats` returns the counts; with `?requests=1&disconnects=1` it waits for them. `DELETE` resets them.
 */
export async function startFaultServer(): Promise<TestServer> {
  const scopes = new Map<string, Scope>();
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const scope = scopes.getOrInsertComputed(pathname.replace(/\/(__stats|chat\/completions)$/, ''), newScope);
    if (request.method === 'DELETE') Object.assign(scope.stats, { requests: 0, disconnects: 0 });
    if (request.method === 'OPTIONS' || request.method === 'DELETE') response.writeHead(204).end();
    else if (request.method === 'GET') sendStats(response, scope, searchParams);
    else answer(request, response, scope).catch(() => response.destroy());
  });
  return { url: await listen(server), close: () => closeServer(server) };
}

function newScope(): Scope {
  return { stats: { requests: 0, disconnects: 0 }, watchers: new Set() };
}

function sendStats(response: ServerResponse, { stats, watchers }: Scope, wanted: URLSearchParams): void {
  const notify = (): void => {
    const { requests, disconnects } = stats;
    if (requests < Number(wanted.get('requests')) || disconnects < Number(wanted.get('disconnects'))) return;
    watchers.delete(notify);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(stats));
  };
  watchers.add(notify);
  response.on('close', () => watchers.delete(notify));
  notify();
}

async function answer(request: IncomingMessage, response: ServerResponse, { stats, watchers }: Scope): Promise<void> {
  const count = (name: keyof FaultStats): void => {
    stats[name] += 1;
    watchers.forEach((notify) => notify());
  };
  let model = '';
  response.on('close', () => response.writableEnded || model === 'cut' || count('disconnects'));
  count('requests');
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  const chat = JSON.parse(body) as ChatRequest; // safe: only our tests call this server
  ({ model } = chat);
  response.setHeader('content-type', 'text/event-stream');
  const fault = faults[model];
  if (fault) fault({ chat, request, response, stats });
  else fail(response, 404, `No fault is called ${model}`);
}

function text(content: string): object {
  return { choices: [{ index: 0, delta: { role: 'assistant', content } }] };
}

function finish(reason: string): object {
  return { choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

/** The first step calls a tool, its arguments in pieces; the step that knows the tool's result answers. */
function endToolCall(exchange: Exchange, [call, ...pieces]: [{ name?: string }, ...string[]]): void {
  const { messages, tools } = exchange.chat;
  if (messages.at(-1)?.role === 'tool') return end(exchange, [text('The tool answered'), finish('stop')]);
  const name = call.name ?? tools?.[0]?.function.name ?? 'weather';
  const deltas = pieces.map((piece, i) => ({
    index: 0,
    ...(i === 0 && { id: `call_${messages.length}`, type: 'function' }),
    function: { ...(i === 0 && { name }), arguments: piece },
  }));
  end(exchange, [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta: { tool_calls: [delta] } }] })),
    finish('tool_calls'),
  ]);
}

function frame(chunk: object): string {
  return `data: ${
    JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fault', ...chunk })
  }\n\n`;
}

function end({ chat, response }: Exchange, chunks: readonly object[]): void {
  const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } };
  const all = chat.stream_options?.include_usage === true ? [...chunks, usage] : chunks;
  response.end(all.map(frame).join('') + done);
}

function write(response: ServerResponse, chunks: readonly object[], then?: () => void): void {
  response.write(chunks.map(frame).join(''), () => then?.());
}

function fail(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'fault', param: null, code: null } }));
}
