/** An OpenAI-compatible endpoint that writes Markdown at a steady pace. */

import { createServer, type ServerResponse } from 'node:http';
import { closeServer, corsHeaders, listen, type TestServer } from '../../tools/servers/http-server.ts';

const words =
  'The stream sets **east** for five hours after `high water`, then slack, and the ebb runs hard past the point. '
    .split(/(?<= )/);
const endings = ['\n\n', '\n\n- Keep to starboard\n- Call on channel 12\n\n', '\n\n```ts\nconst knots = 5;\n```\n\n'];

/** So many chunks a second, so many in all. */
interface Pace {
  readonly perSecond: number;
  readonly chunks: number;
}

export async function startFastModel(pace: Pace): Promise<TestServer> {
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
    request.resume();
    if (request.method === 'POST') write(response, pace);
    else response.writeHead(204).end();
  });
  return { url: await listen(server), close: () => closeServer(server) };
}

function write(response: ServerResponse, { perSecond, chunks }: Pace): void {
  response.setHeader('content-type', 'text/event-stream');
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(chunks, Math.floor((performance.now() - started) / 1000 * perSecond));
    for (; sent < due; sent++) response.write(frame({ delta: { role: 'assistant', content: pieceOf(sent) } }));
    if (sent < chunks) return;
    clearInterval(timer);
    response.end(`${frame({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
  }, 1000 / perSecond);
  response.on('close', () => clearInterval(timer));
}

function pieceOf(i: number): string {
  const word = words[i % words.length] ?? '';
  return i % 80 === 79 ? `${word.trimEnd()}${endings[Math.floor(i / 80) % endings.length]}` : word;
}

function frame(choice: object): string {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'fast' };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n`;
}
