import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createChat } from '../../../demo/examples/chat-page.ts';
import { faqSource } from '../../../demo/examples/grounding-source.ts';
import { failureWatch } from '../../../demo/examples/sink.ts';
import { findCabin, giveCabin } from '../../../demo/examples/tool.ts';
import { createRuntime, type EventSink, type PlanningRuntime } from '../../../src/index.ts';
import { groundingContract, type GroundingSubject } from '../../contracts/grounding.ts';

function ship(sinks: readonly EventSink[] = []): PlanningRuntime {
  const entryTools = ['cabin_find', 'cabin_give'];
  const catalog = staticCatalog({
    agents: [{ id: 'purser', name: 'Purser', providerId: 'main', entryTools }],
    providers: [{ id: 'main', kind: 'rehearsal' }],
  });
  const models = { model: () => rehearsal({ delayMs: 0 }) };
  return createRuntime({ catalog, models, storage: memoryStorage(), tools: [findCabin, giveCabin], sinks });
}

/** A page's chat with the ship, whose agent is on the other side of a port as in a worker. */
function chatWith(runtime: PlanningRuntime): ReturnType<typeof createChat> {
  const { port1, port2 } = new MessageChannel();
  exposeRuntime(runtime, port1);
  port2.start();
  return createChat(connectRuntime(port2), () => undefined);
}

const partsOf = (message: UIMessage | undefined): string => JSON.stringify(message?.parts);
const body = { agentId: 'purser' };

describe('the example of a page', () => {
  it("chats as useChat does, over the worker's transport", async () => {
    const chat = chatWith(ship());
    await chat.sendMessage({ text: '/cabin_find {"cabin": "1"}' }, { body });
    expect(chat.status).toBe('ready');
    expect(partsOf(chat.lastMessage)).toContain('"guest":"Ada"');
  });

  it('is asked before a cabin is given away', async () => {
    const chat = chatWith(ship());
    await chat.sendMessage({ text: '/cabin_give {"cabin": "2", "guest": "Grace"}' }, { body });
    expect(partsOf(chat.lastMessage)).toContain('"state":"approval-requested"');
  });
});

describe('the example of a sink', () => {
  it('reports a tool that fails often', async () => {
    const often: string[] = [];
    const { sink, failures } = failureWatch({ most: 2, onOften: (toolId) => void often.push(toolId) });
    const chat = chatWith(ship([sink]));
    await chat.sendMessage({ text: '/cabin_find {"cabin": "7"}\n/cabin_find {"cabin": "8"}' }, { body });
    expect(failures.get('cabin_find')).toBe(2);
    expect(often).toEqual(['cabin_find']);
  });
});

describe('the example of a grounding source keeps the contract', () => {
  it.each(groundingContract)('$name', async ({ run }) => {
    const open: GroundingSubject['open'] = async (documents) =>
      faqSource(
        'faq',
        (tenant) => (documents[tenant] ?? []).map(({ id, text }) => ({ id, question: '', answer: text })),
      );
    await expect(run({ open })).resolves.toBeUndefined();
  });
});

describe('the configurations for MCP clients', async () => {
  const folder = join(import.meta.dirname, '../../../demo/examples/mcp-clients');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));

  it.each(files)('%s reaches the tools of an endpoint', async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    JSON.parse(text);
    const url = /"(http:[^"]+)"/.exec(text)?.[1] ?? '';
    const bearer = /"(?:Authorization: )?(Bearer [^"]+)"/.exec(text)?.[1] ?? '';
    const token = 'a-token-for-a-test';
    const runtime = ship();
    const mcp = {
      tools: (principal: Parameters<PlanningRuntime['tools']>[1]) => runtime.tools('purser', principal),
      storage: memoryStorage(),
    };
    const serve = createHandler(runtime, { authenticator: developmentAuthenticator({ token }), mcp });
    const response = await serve(
      new Request(url, {
        method: 'POST',
        headers: {
          'authorization': bearer.replace(/TOKEN|\$\{input:token\}/, token),
          'content-type': 'application/json',
          'accept': 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      }),
    );
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('tool_find');
  });
});
