import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, localPrincipal, type Storage } from '../../../../src/index.ts';
import { readBasis, readStepNote } from '../../../../src/runtime/run-basis.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const look = defineTool({
  id: 'look',
  description: 'Looks',
  input: { type: 'object' },
  annotations: { readOnlyHint: true },
  execute: () => 'calm sea',
});

const script = () => scriptedModel(callsTools({ tool: 'look', input: {} }), says('All done')).model;

async function runIdOf(stream: Promise<ReadableStream<never>> | ReturnType<ReturnType<typeof testRuntime>['run']>) {
  return String(lastData(await readAll(await stream), 'data-run')['runId']);
}

async function storedUnder(storage: Storage, runId: string): Promise<string> {
  return JSON.stringify(await storage.list({ prefix: ['run', runId], limit: 1000 }));
}

describe("keep: 'inputs'", () => {
  it('records a digest of the prompt of each step, and what was used before it', async () => {
    const storage = memoryStorage();
    const runtime = testRuntime({ model: script(), storage, tools: [look], keep: 'inputs' });
    const first = await runIdOf(runtime.run(runRequest(), localPrincipal()));
    const second = await runIdOf(runtime.run(runRequest(), localPrincipal()));
    expect(await readStepNote(first, 1, storage)).toMatchObject({
      prompt: expect.stringMatching(/^[0-9a-f]{64}$/),
      tokens: 0,
    });
    expect(await readStepNote(first, 2, storage)).toMatchObject({ tokens: 15 });
    expect((await readStepNote(first, 1, storage))?.prompt).toBe((await readStepNote(second, 1, storage))?.prompt);
    expect((await readStepNote(first, 1, storage))?.prompt).not.toBe((await readStepNote(first, 2, storage))?.prompt);
    expect(await readStepNote(first, 3, storage)).toBeUndefined();
  });

  it('records nothing of it by default', async () => {
    const storage = memoryStorage();
    const runtime = testRuntime({ model: script(), storage, tools: [look] });
    const runId = await runIdOf(runtime.run(runRequest(), localPrincipal()));
    expect(await readBasis(runId, storage)).toBeUndefined();
    expect(await readStepNote(runId, 1, storage)).toBeUndefined();
  });

  it('records which tools discovery had made active', async () => {
    const storage = memoryStorage();
    const model = scriptedModel(callsTools({ tool: 'tool_load', input: { names: ['look'] } }), says('All done')).model;
    const runtime = testRuntime({
      model,
      storage,
      tools: [look],
      keep: 'inputs',
      agent: { entryTools: ['tool_*', 'l*'] },
    });
    const first = await runIdOf(runtime.run(runRequest(), localPrincipal()));
    const output = { loaded: [{ name: 'look', inputSchema: { type: 'object' } }], active: 1 };
    const loaded = { type: 'tool-tool_load', toolCallId: 'c', state: 'output-available', input: {}, output } as const;
    const [asked] = runRequest().chat.messages;
    const messages = [asked!, { id: 'a', role: 'assistant' as const, parts: [loaded] }, { ...asked!, id: 'next' }];
    const second = await runIdOf(runtime.run(runRequest({ chat: { id: 'chat-1', messages } }), localPrincipal()));
    expect((await readBasis(first, storage))?.active).toEqual([]);
    expect((await readBasis(second, storage))?.active).toEqual(['look']);
  });

  it('reads a request back that takes several entries', async () => {
    const storage = memoryStorage();
    const runtime = testRuntime({ model: script(), storage, tools: [look], keep: 'inputs' });
    const url = `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\n'.padEnd(900_000, 'x'))}`;
    const message = {
      id: 'm1',
      role: 'user' as const,
      parts: [{ type: 'file' as const, mediaType: 'image/png', url }],
    };
    const runId = await runIdOf(runtime.run(runRequest({ chat: { id: 'c', messages: [message] } }), localPrincipal()));
    expect((await readBasis(runId, storage))?.request.chat.messages).toEqual([message]);
    expect(await storage.list({ prefix: ['run', runId, 'basis'], limit: 10 })).toHaveLength(3);
  });

  it("contains no secret, also where the request has the provider's", async () => {
    const storage = memoryStorage();
    const canary = 'canary-secret-3f9a7c51';
    const runtime = createRuntime({
      catalog: staticCatalog({
        agents: [{ id: 'helper', name: 'Helper', providerId: 'default' }],
        providers: [{ id: 'default', kind: 'custom', baseUrl: 'https://models.example', secret: { id: 'KEY' } }],
      }),
      models: { model: () => script() },
      secrets: memorySecrets({ KEY: { value: canary, origins: ['https://models.example'] } }),
      storage,
      keep: 'inputs',
    });
    const messages = [userMessage(`My key is ${canary}`)];
    const runId = await runIdOf(runtime.run(runRequest({ chat: { id: 'c', messages } }), localPrincipal()));
    expect(await readBasis(runId, storage)).toBeDefined();
    expect(await storedUnder(storage, runId)).not.toContain(canary);
  });
});
