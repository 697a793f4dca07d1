import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createAudit,
  createRuntime,
  type CreateRuntimeOptions,
  localPrincipal,
  type ObservedEvent,
  type UIMessage,
} from '../../../src/index.ts';
import { foldMessage } from '../../../src/runtime/fold-message.ts';
import { fromAiTool } from '../../../src/tools/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const secret = 'sk-live-0123456789abcdef';

/** The events of an answer of Anthropic that has searched the web. */
function searched(): Response {
  const source = {
    type: 'web_search_result',
    url: 'https://tides.example/oslo',
    title: `Tides ${secret}`,
    encrypted_content: 'E1',
    page_age: null,
  };
  const blocks: readonly (readonly [block: object, deltas: readonly object[]])[] = [
    [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"query":"tide in Oslo"}' },
    ]],
    [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [source] }, []],
    [{ type: 'text', text: '' }, [{ type: 'text_delta', text: 'At noon.' }]],
  ];
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  const events = [
    { type: 'message_start', message },
    ...blocks.flatMap(([block, deltas], index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function claude(answer = (): Promise<Response> => Promise.resolve(searched())) {
  const bodies: Record<string, unknown>[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(init?.body as string) as Record<string, unknown>); // the package sends texts of objects
    return answer();
  };
  return {
    bodies,
    model: createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5'),
  };
}

const search = createAnthropic({ apiKey: 'k' }).tools.webSearch_20250305({ maxUses: 2 });
const named = 'anthropic.web_search_20250305';

function runtimeWith(
  { entryTools = ['search'], fallback = false, ...options }: Partial<CreateRuntimeOptions> & {
    readonly entryTools?: string[];
    readonly fallback?: boolean;
  },
) {
  const events: ObservedEvent[] = [];
  const fallbacks = fallback ? [{ providerId: 'q' }] : [];
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools, fallbacks }],
      providers: [{ id: 'p', kind: 'custom', secret: { id: 'key' } }, { id: 'q', kind: 'custom' }],
    }),
    secrets: memorySecrets({ key: { value: secret, origins: ['code'] } }),
    models: { model: () => claude().model },
    storage: memoryStorage(),
    tools: entryTools.includes('search') ? [fromAiTool('search', search)] : [],
    sinks: [(event: ObservedEvent) => void events.push(event)],
    ...options,
  });
  const ask = async (messages: UIMessage[]) =>
    await readAll(await runtime.run({ agentId: 'a', chat: { id: 'c', messages } }, me));
  return { runtime, events, ask };
}

describe('a tool that the provider executes', () => {
  it('is declared as the package of the provider does it, streamed, redacted, counted and audited', async () => {
    const { bodies, model } = claude();
    const audit = createAudit({ storage: memoryStorage() });
    const { ask, events } = runtimeWith({ models: { model: () => model }, audit });
    const first = userMessage('When is the tide?');
    const chunks = await ask([first]);
    expect(bodies[0]?.['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }]);
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-input-available',
        toolName: 'search',
        input: { query: 'tide in Oslo' },
        providerExecuted: true,
      }),
    );
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'source-url', url: 'https://tides.example/oslo' }));
    expect(JSON.stringify(chunks)).not.toContain(secret);
    expect(lastData(chunks, 'data-usage')).toMatchObject({ toolCalls: 1 });
    const calls = events.filter(({ action }) => action === 'tool.call');
    expect(calls.map(({ status, target }) => [status, target.id])).toEqual([['pending', 'search'], ['ok', 'search']]);
    expect(calls[0]?.payloadSummary).toContain('executedBy=provider');
    const entries = (await audit.log(me.tenant).list()).items.map(({ event }) => event);
    expect(entries.filter(({ action }) => action === 'tool.call').map(({ status }) => status)).toEqual([
      'pending',
      'ok',
    ]);

    const answer = foldMessage(chunks, { id: '', role: 'assistant', parts: [] });
    await ask([first, answer, userMessage('And tomorrow?', 'm2')]);
    const [before, next] = bodies.map(({ messages }) => (messages as object[]).map((one) => JSON.stringify(one)));
    expect(next?.slice(0, before?.length)).toEqual(before);
    expect(next?.[1]).toContain('web_search_tool_result');
  });

  it('is named by an agent as its provider names it', async () => {
    const { bodies, model } = claude();
    const { ask } = runtimeWith({ entryTools: [named], models: { model: () => model } });
    await ask([userMessage('When is the tide?')]);
    expect(bodies[0]?.['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search' }]);
  });

  it('is refused for a model of another provider, which is not called, and not offered to a fallback', async () => {
    const openai = createOpenAI({ apiKey: 'k' })('gpt-5.4');
    const { runtime } = runtimeWith({ entryTools: [named], models: { model: () => openai } });
    const request = { agentId: 'a', chat: { id: 'c', messages: [userMessage('Hi')] } };
    await expect(runtime.run(request, me)).rejects.toMatchObject({ details: { reason: 'provider_tool', tool: named } });

    const down = claude(() => Promise.reject(new TypeError('fetch failed'))).model;
    const other = scriptedModel(says('I cannot search'));
    const { ask } = runtimeWith({
      fallback: true,
      limits: { modelRetries: 0 },
      models: { model: ({ id }) => id === 'p' ? down : other.model },
    });
    expect(lastData(await ask([userMessage('Hi')]), 'data-run')['state']).toBe('failed');
    expect(other.calls).toEqual([]);
  });

  it('fails the run where the package does not know it', async () => {
    const { ask } = runtimeWith({ entryTools: ['anthropic.web_serach'] });
    expect(lastData(await ask([userMessage('Hi')]), 'data-run')).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'provider_tool', tool: 'anthropic.web_serach' } },
    });
  });

  it('is not declared where a rule denies it, and cannot be one of which a person approves calls', async () => {
    const { bodies, model } = claude();
    const authorize: CreateRuntimeOptions['authorize'] = (action) =>
      action === 'tool.call' ? { decision: 'deny', reason: 'no searches' } : { decision: 'allow' };
    const { ask } = runtimeWith({ models: { model: () => model }, authorize });
    await ask([userMessage('Hi')]);
    expect(bodies[0]?.['tools']).toBeUndefined();
    expect(() => fromAiTool('search', search, { approval: 'always' })).toThrow('no person can approve a call');
  });
});
