import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { openAiCompatible } from '../../../../adapters/models/openai-compatible.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createRuntime,
  defineTool,
  localPrincipal,
  type ObservedEvent,
  type ProviderInput,
  type RunRequestInput,
  type Storage,
  type UIMessage,
} from '../../../../src/index.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { callsTools, says, scriptedModel, streamOf, withUsage } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

const add = defineTool({
  id: 'add',
  description: 'Adds',
  input: v.object({ a: v.number(), b: v.number() }),
  annotations: { readOnlyHint: true },
  execute: ({ a, b }) => a + b,
});
const instructions = `You help. ${'A rule of the house. '.repeat(400)}`;

/** Runs two steps and a turn with a model that calls itself so, and returns what it was called with. */
async function callsOf(provider: string, { record = {}, agent = {}, refuses = false, modelId = 'm' }: {
  readonly record?: Partial<ProviderInput>;
  readonly agent?: Partial<AgentInput>;
  readonly refuses?: boolean;
  readonly modelId?: string;
} = {}) {
  const calls: LanguageModelV4CallOptions[] = [];
  const model = {
    specificationVersion: 'v4',
    provider,
    modelId,
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

  it('are a breakpoint behind the instructions as well, from GPT-5.6 on', async () => {
    const calls = await callsOf('openai.responses', { modelId: 'gpt-5.6' });
    const body = await bodyOf((fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5.6'), calls[0]!);
    expect(body.match(/prompt_cache_breakpoint/g)).toHaveLength(1);
    const { input } = JSON.parse(body) as { readonly input: readonly object[] };
    expect(JSON.stringify(input[0])).toContain('prompt_cache_breakpoint');
  });

  it.each(['marks', 'key', 'salt'] as const)('are %s at other endpoints where the record says so', async (cache) => {
    const [call] = await callsOf('openai-compatible.chat', { record: { cache } });
    const body = await bodyOf(
      (fetch) => openAiCompatible({ baseUrl: 'https://model.example/v1', model: 'm', fetch }),
      call!,
    );
    expect(/cache_control/.test(body)).toBe(cache === 'marks');
    expect(/prompt_cache_key/.test(body)).toBe(cache === 'key');
    expect(/"cache_salt":"[0-9a-f]{32}"/.test(body)).toBe(cache === 'salt');
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

const me = localPrincipal();
const answer = (runId: unknown, id: string): UIMessage => ({
  id,
  role: 'assistant',
  parts: [{ type: 'data-run', data: { runId } }, { type: 'step-start' }, { type: 'text', text: 'Hi' }],
});

function stage(storage: Storage = memoryStorage(), ...said: readonly ReturnType<typeof says>[]) {
  const events: ObservedEvent[] = [];
  const runtime = testRuntime({
    model: scriptedModel(...said, says('Hi')).model,
    storage,
    sinks: [(event) => events.push(event)],
  });
  const turn = async (...messages: UIMessage[]) => {
    const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'c1', messages } }), me));
    return { runId: lastData(chunks, 'data-run')['runId'], usage: lastData(chunks, 'data-usage') };
  };
  const breaks = () => events.filter(({ action }) => action.startsWith('prompt.')).map((one) => one.payloadSummary);
  return { storage, runtime, events, turn, breaks };
}

describe('the beginning of a prompt', () => {
  it('stays over turns, and the call says how much of it a cache may have', async () => {
    const on = stage();
    const first = await on.turn(userMessage('One', 'u1'));
    expect(first.usage['cache']).toBeUndefined();
    const second = await on.turn(userMessage('One', 'u1'), answer(first.runId, 'a1'), userMessage('Two', 'u2'));
    expect(second.usage['cache']).toEqual({ cacheableTokens: expect.any(Number), breaks: [] });
    expect(on.events.findLast(({ action }) => action === 'model.call')?.payloadSummary).toContain('cacheableTokens=');
    expect(on.breaks()).toEqual([]);
  });

  it('is read from a cache, written to one, or missed, and each call and the metrics say so', async () => {
    const cached = (cacheRead: number) =>
      withUsage(says('Hi'), { input: { total: 1500, cacheRead, cacheWrite: 200 }, output: { total: 5 } });
    const on = stage(memoryStorage(), cached(900), cached(0));
    const long = userMessage('word '.repeat(1200), 'u1');
    const { runId, usage } = await on.turn(long);
    expect(usage).toMatchObject({ cachedInputTokens: 900, cacheWriteTokens: 200 });
    await on.turn(long, answer(runId, 'a1'), userMessage('Two', 'u2'));
    const [first, second] = on.events.filter(({ action, status }) => action === 'model.call' && status === 'ok')
      .map(({ payloadSummary }) => payloadSummary);
    expect(first).toMatch(/cachedTokens=900 cacheWriteTokens=200 (?!.*missed)/);
    expect(second).toMatch(/cachedTokens=0 cacheWriteTokens=200 cacheableTokens=\d{4} missed=true/);
    const metrics = on.runtime.metrics.text();
    expect(metrics).toMatch(/pinnace_tokens_total\{.*kind="cached".*\} 900/);
    expect(metrics).toMatch(/pinnace_tokens_total\{.*kind="cache_write".*\} 400/);
  });

  it.each(['the same', 'another'])(
    'is announced before the call where a message was edited, on %s instance',
    async (which) => {
      const on = stage();
      const first = await on.turn(userMessage('One', 'u1'));
      const next = which === 'the same' ? on : stage(on.storage);
      const { usage } = await next.turn(userMessage('Won', 'u1'), answer(first.runId, 'a1'), userMessage('Two', 'u2'));
      expect(next.breaks()).toEqual([
        expect.stringMatching(/^reason=edit block=messages position=1 keptTokens=\d+ lostTokens=\d+/),
      ]);
      expect(usage['cache']).toMatchObject({ breaks: [{ step: 1, reason: 'edit' }] });
      const order = next.events.map(({ action, status }) => `${action} ${status}`);
      expect(order.indexOf('prompt.break ok')).toBeLessThan(order.lastIndexOf('model.call pending'));
      expect(next.runtime.metrics.text()).toContain('pinnace_prompt_breaks_total{agent="helper",reason="edit"} 1');
    },
  );

  it('is announced once for a chat of which nothing is recorded, as one of version 0.2', async () => {
    const on = stage();
    const messages = [userMessage('One', 'u1'), answer('run_before', 'a1'), userMessage('Two', 'u2')];
    const { runId } = await on.turn(...messages);
    await on.turn(...messages, answer(runId, 'a2'), userMessage('Three', 'u3'));
    expect(on.breaks()).toEqual([expect.stringMatching(/^reason=retention /)]);
  });
});

/** A chat whose client keeps the messages. Returns the texts of the prompts. */
function chatOf({ agent = {}, now }: { readonly agent?: Partial<AgentInput>; readonly now?: () => number } = {}) {
  const script = scriptedModel(says('Yes'));
  const runtime = testRuntime({ model: script.model, storage: memoryStorage(), agent, ...(now && { now }) });
  const messages: ReturnType<typeof userMessage>[] = [];
  return {
    messages,
    async turn(text: string, more: Partial<RunRequestInput> = {}): Promise<string[]> {
      messages.push(userMessage(text, `u${messages.length}`));
      const chunks = await readAll(
        await runtime.run(runRequest({ chat: { id: 'c', messages: [...messages] }, ...more }), localPrincipal()),
      );
      messages.push(foldMessage(chunks, { id: `a${messages.length}`, role: 'assistant', parts: [] }));
      const prompt = script.calls.at(-1)?.prompt ?? [];
      return prompt.flatMap(({ role, content }) =>
        typeof content === 'string'
          ? [content]
          : content.flatMap((part) => 'text' in part ? [`${role}: ${part.text}`] : [])
      );
    },
  };
}

describe('what a run is given besides its chat', () => {
  it('stays before the message that it came with, and is not said twice', async () => {
    const chat = chatOf();
    const fact = (content: string) => ({
      context: [{ content, source: 'memory' }, { content: 'Metric', source: 'mcp' }],
    });
    const first = await chat.turn('One', fact('A'));
    const second = await chat.turn('Two', fact('B'));
    expect(second.slice(0, first.length)).toEqual(first);
    expect(first).toEqual([expect.stringContaining('"Metric"'), 'user: One']);
    expect(second.at(-2)).toMatch(/"content":"B"/);
    expect(second.at(-2)).not.toContain('Metric');
    expect(await chat.turn('Three', fact('B'))).toHaveLength(second.length + 2);
  });

  it('is data that the client keeps, before the steps of the answer', async () => {
    const chat = chatOf();
    await chat.turn('One', { context: [{ content: 'A' }] });
    const { parts } = chat.messages.at(-1)!;
    const at = parts.findIndex(({ type }) => type === 'data-context');
    expect(parts[at]).toMatchObject({ data: { items: [{ content: 'A' }] } });
    expect(at).toBeLessThan(parts.findIndex(({ type }) => type === 'step-start'));
  });

  it('may be ephemeral: at the end of one turn, and nowhere later', async () => {
    const chat = chatOf();
    const first = await chat.turn('One', { context: [{ content: 'Secretly', ephemeral: true }] });
    expect(first.at(-1)).toContain('Secretly');
    expect((await chat.turn('Two')).join()).not.toContain('Secretly');
    expect(JSON.stringify(chat.messages)).not.toContain('Secretly');
  });

  it('is the date of the caller, once a day', async () => {
    let now = Date.UTC(2026, 10, 26, 23, 30);
    const chat = chatOf({ agent: { facts: ['date'] }, now: () => now });
    expect((await chat.turn('One')).join()).toContain('Today is 2026-11-26');
    now += 60_000;
    expect((await chat.turn('Two')).join().match(/Today is/g)).toHaveLength(1);
    expect((await chat.turn('Three', { timeZone: 'Asia/Tokyo' })).join()).toContain('Today is 2026-11-27');
    await expect(chat.turn('Four', { timeZone: 'Nowhere' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('calls off a schema and settings that no longer apply', async () => {
    const chat = chatOf({ agent: { callerSettings: { instructions: true } } });
    const settings = { instructions: 'Rhyme' };
    await chat.turn('One', { settings });
    expect((await chat.turn('Two', { settings })).join().match(/Rhyme/g)).toHaveLength(1);
    expect((await chat.turn('Three')).at(-1)).toContain('no longer apply');
    expect((await chat.turn('Four')).at(-1)).toBe('user: Four');
  });
});
