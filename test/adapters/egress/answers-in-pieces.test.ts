/** Servers that answer in single bytes: models, MCP servers, catalogs, secret managers, and hosts of tools. */

import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { httpCatalog } from '../../../adapters/catalog/http.ts';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { httpSecrets } from '../../../adapters/secrets/http.ts';
import { readText } from '../../../src/base/read-text.ts';
import { server } from '../../contracts/mcp/check.ts';
import { egressTo } from '../../fixtures/mcp/mcp-peer.ts';
import { get, home, terms } from '../../fixtures/egress.ts';
import { provider } from '../../fixtures/records.ts';

const { signal } = new AbortController();
const delta = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(64) } }] })}\n\n`;
const progress = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })}\n\n`;

/** An answer of so many bytes that repeats a text in pieces of one size, and how many pieces were taken of it. */
function answerInPieces(
  text: string,
  { size, type, bytes = 1_048_576 }: Readonly<Record<'size', number>> & {
    readonly type: string;
    readonly bytes?: number;
  },
) {
  const all = new TextEncoder().encode(text.repeat(Math.ceil(bytes / text.length)));
  let taken = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const at = taken++ * size;
      if (at >= all.length) controller.close();
      else controller.enqueue(all.slice(at, at + size));
    },
  }, { highWaterMark: 0 });
  const send = () => Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
  return { send, egress: egressTo(send), taken: () => taken };
}

type Answer = ReturnType<typeof answerInPieces>;

async function askModel({ egress }: Answer): Promise<void> {
  const source = modelSource({ egress });
  const record = {
    ...provider({ kind: 'openai-compatible', baseUrl: `${home}/v1`, model: 'm' }),
    version: '1.0.0',
    revision: 1,
    state: 'active',
  } as const;
  const model = source.model(record, undefined);
  if (model.specificationVersion !== 'v4') throw new Error('It is another model');
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] });
  for await (const part of stream) if (part.type === 'error') throw part.error;
}

const readers: readonly (readonly [string, string, string, (answer: Answer) => Promise<unknown>])[] = [
  ['a model, in events', delta, 'text/event-stream', askModel],
  ['a model, in one event without an end', 'data: x', 'text/event-stream', askModel],
  ['a model, in space', ' ', 'text/event-stream', askModel],
  ['a model, in one document', '{"a":[1,2,3]', 'application/json', askModel],
  ['an MCP server, in events', progress, 'text/event-stream', askMcp],
  ['an MCP server, in lines without an event', 'data\n', 'text/event-stream', askMcp],
  ['an MCP server, in JSON', '[1,2,3]', 'application/json', askMcp],
  [
    'a catalog',
    '{"id":"a"}',
    'application/json',
    async ({ send }) => await httpCatalog({ url: home, fetch: send }).agent('helper'),
  ],
  [
    'a secret manager',
    '{"id":"a"}',
    'application/json',
    async ({ send }) =>
      await httpSecrets({ url: home, fetch: send }).resolve({ id: 'key' }, {
        scope: { tenant: 'a', agentId: 'helper' },
        signal,
      }),
  ],
  [
    'the host of a tool',
    'text',
    'text/plain',
    async ({ egress }) => await readText((await egress.fetch(get(home), terms({ maxBytes: 8_388_608 }))).body),
  ],
];

async function askMcp({ egress }: Answer): Promise<unknown> {
  return await mcpConnector({ egress }).connect(server, { secret: undefined, signal });
}

describe('an answer', () => {
  it.each(readers)('of %s is not taken in single bytes', async (_name, text, type, read) => {
    const answer = answerInPieces(text, { size: 1, type });
    await expect(read(answer)).rejects.toThrow(/./); // some say what they read, some why
    expect(answer.taken()).toBeGreaterThan(4_000);
    expect(answer.taken()).toBeLessThan(4_500);
  });

  it.each(readers)('of %s in small pieces takes at most a second of CPU a MiB', async (_name, text, type, read) => {
    const answer = answerInPieces(text, { size: 32, type });
    const before = process.cpuUsage();
    await read(answer).catch(() => undefined);
    const { user, system } = process.cpuUsage(before);
    expect(answer.taken()).toBeGreaterThan(2_000);
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});
