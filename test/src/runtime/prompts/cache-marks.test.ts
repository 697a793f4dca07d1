import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { openAiCompatible } from '../../../../adapters/models/openai-compatible.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createRuntime,
  defineTool,
  localPrincipal,
  type ProviderInput,
} from '../../../../src/index.ts';
import { callsTools, says, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, userMessage } from '../../../fixtures/runtime.ts';

const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: v.object({ a: v.number(), b: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ a, b }) => a + b,
});
const instructions = `You help. ${'A rule of the house. '.repeat(400)}`;

/** Runs two steps and a turn with a model that calls itself so, and returns what it was called with. */
async function callsOf(provider: string, { record = {}, agent = {}, refuses = false }: {
  readonly record?: Partial<ProviderInput>;
  readonly agent?: Partial<AgentInput>;
  readonly refuses?: boolean;
} = {}) {
  const calls: LanguageModelV4CallOptions[] = [];
  const model = {
    specificationVersion: 'v4',
    provider,
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('streams only')),
    doStream(options: LanguageModelV4CallOptions) {
      calls.push(options);
      const isRefused = refuses && /cache/i.test(JSON.stringify([options.prompt, options.providerOptions]));
      if (isRefused) {
        const error = {
          name: 'AI_APICallError',
          statusCode: 400,
          isRetryable: false,
          responseBody: 'cache_control: not permitted',
        };
        return Promise.reject(Object.assign(new Error('Bad request'), error));
      }
      const isFirst = options.prompt.at(-1)?.role === 'user';
      return Promise.resolve({
        stream: streamOf(isFirst ? callsTools({ tool: 'add', input: { a: 1, b: 2 } }) : says('3')),
      });
    },
  } as unknown as LanguageModelV4; // as much of it as a run calls
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'p', instructions, entryTools: ['add'], ...agent }],
      providers: [{ id: 'p', kind: 'custom', ...record }],
    }),
    models: { model: () => model },
    storage: memoryStorage(),
    tools: [add],
  });
  const chat = { id: 'of-a-person', messages: [userMessage('1 + 2?')], store: true };
  const chunks = await readAll(await runtime.run({ agentId: 'helper', chat }, localPrincipal()));
  expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  const stored = await runtime.chats.get('of-a-person', localPrincipal());
  expect(JSON.stringify(stored)).not.toMatch(/cache_?control|cachePoint/i);
  return calls;
}

const marksIn = (value: unknown): number =>
  JSON.stringify(value).match(/"(?:cacheControl|cache_control|cachePoint)":/g)?.length ?? 0;

/** The body that a package makes of a call. */
async function bodyOf(
  make: (fetch: typeof globalThis.fetch) => unknown,
  call: LanguageModelV4CallOptions,
): Promise<string> {
  let body = '';
  const fetch = (_url: unknown, init?: { readonly body?: unknown }) => {
    body = String(init?.body);
    return Promise.reject(new Error('seen'));
  };
  const model = make(fetch) as LanguageModelV4;
  await Promise.resolve(model.doStream(call)).catch(() => undefined);
  return body;
}

const without = (body: string): unknown => JSON.parse(body, (key, one: unknown) => /cache/.test(key) ? undefined : one);

describe('the marks of a cache', () => {
  it('end the instructions, the call before and this one at Anthropic, and are no part of the prompt', async () => {
    const calls = await callsOf('anthropic.messages');
    expect(calls.map(({ prompt }) => prompt.map((message) => marksIn(message.providerOptions ?? {})))).toEqual([
      [1, 1],
      [1, 1, 0, 1],
    ]);
    const make = (fetch: typeof globalThis.fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5');
    const [first, second] = await Promise.all(calls.map(async (call) => await bodyOf(make, call)));
    expect([marksIn(JSON.parse(first!)), marksIn(JSON.parse(second!))]).toEqual([2, 3]);
    const [plain] = await callsOf('anthropic.messages', { record: { cache: 'off' } });
    expect(marksIn(plain?.prompt)).toBe(0);
    expect(without(first!)).toEqual(without(await bodyOf(make, plain!)));
  });

  it('live for an hour at the instructions alone, where the record says so', async () => {
    const [call] = await callsOf('anthropic.messages', { record: { cache: '1h' } });
    expect(call?.prompt.map(({ providerOptions }) => providerOptions?.['anthropic']?.['cacheControl'])).toEqual([
      { type: 'ephemeral', ttl: '1h' },
      { type: 'ephemeral' },
    ]);
  });

  it('are a key at OpenAI, the same for a chat, without a name in it', async () => {
    const calls = await callsOf('openai.responses');
    const keys = calls.map(({ providerOptions }) => providerOptions?.['openai']?.['promptCacheKey']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
    const body = await bodyOf((fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5.4'), calls[0]!);
    expect(JSON.parse(body)).toMatchObject({ prompt_cache_key: keys[0] });
  });

  it.each(['marks', 'key'] as const)('are %s at other endpoints where the record says so', async (cache) => {
    const [call] = await callsOf('openai-compatible.chat', { record: { cache } });
    const body = await bodyOf(
      (fetch) => openAiCompatible({ baseUrl: 'https://model.example/v1', model: 'm', fetch }),
      call!,
    );
    expect(/cache_control/.test(body)).toBe(cache === 'marks');
    expect(/prompt_cache_key/.test(body)).toBe(cache === 'key');
  });

  it.each(['openai-compatible.chat', 'google.generative-ai', 'mistral.chat', 'something'])(
    'are none at %s, which is not known to take any',
    async (provider) => {
      const calls = await callsOf(provider);
      expect(calls.map(({ prompt, providerOptions }) => JSON.stringify([prompt, providerOptions])).join()).not.toMatch(
        /cache/i,
      );
    },
  );

  it('are none for a prompt that is too short, and where the agent sets its own', async () => {
    const short = await callsOf('anthropic.messages', { agent: { instructions: 'Help.' } });
    expect(marksIn(short.map(({ prompt }) => prompt))).toBe(0);
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const own = await callsOf('anthropic.messages', { agent: { modelSettings: { providerOptions } } });
    expect(marksIn(own.map(({ prompt }) => prompt))).toBe(0);
  });

  it('are left out for a provider that has refused them', async () => {
    const calls = await callsOf('anthropic.messages', { refuses: true });
    expect(calls.map(({ prompt }) => marksIn(prompt) > 0)).toEqual([true, false, false]);
  });
});
