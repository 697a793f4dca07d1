import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAiCompatible } from '../../../../adapters/models/openai-compatible.ts';
import { leaveProvider } from '../../../../src/runtime/model-prompt.ts';
import { fitHistory, withProviderRules } from '../../../../src/runtime/provider-model.ts';
import { budget } from '../../../fixtures/budget.ts';
import { scriptedModel, streamOf } from '../../../fixtures/model.ts';

/** What each kind of provider accepts, as its documentation and its errors say. */
const kinds: Readonly<Record<string, { readonly id: RegExp; readonly name: RegExp; readonly isUnique: boolean }>> = {
  'anthropic.messages': { id: /^[a-zA-Z0-9_-]+$/, name: /^[a-zA-Z0-9_-]{1,128}$/, isUnique: true },
  'vertex.anthropic.messages': { id: /^[a-zA-Z0-9_-]+$/, name: /^[a-zA-Z0-9_-]{1,128}$/, isUnique: true },
  'amazon-bedrock': { id: /^[a-zA-Z0-9_-]{1,64}$/, name: /^[a-zA-Z0-9_-]{1,64}$/, isUnique: true },
  'mistral.chat': { id: /^[a-zA-Z0-9]{9}$/, name: /^[a-zA-Z0-9_-]{1,64}$/, isUnique: true },
  'google.generative-ai': { id: /./, name: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, isUnique: true },
  'openai.chat': { id: /^[^]{1,40}$/, name: /^[a-zA-Z0-9_-]{1,64}$/, isUnique: true },
  'openai.responses': { id: /^[^]{1,40}$/, name: /^[a-zA-Z0-9_-]{1,64}$/, isUnique: true },
  'openai-compatible.chat': { id: /./, name: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, isUnique: false },
  'someone.chat': { id: /./, name: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, isUnique: false },
};

const hello: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
const words = fc.constantFrom('', ' \n', 'Hello', 'Ok');
const toolName = fc.constantFrom(
  'add',
  '',
  '1st',
  'browser.tabs.open',
  'add<|channel|>commentary',
  'n'.repeat(200),
  'функция',
);
const input = fc.constantFrom<unknown>({ a: 1 }, '{"a":', null, undefined, '', 5, [1, 2], 'text', true);
const said = fc.oneof(
  words.map((text) => ({ type: 'text' as const, text })),
  words.map((text) => ({ type: 'reasoning' as const, text })),
);
const question = words.map((text): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] }));

/** An answer whose calls have results. Ids are unique in their chat; their part before the mark may repeat. */
const answer = fc.tuple(
  fc.array(said, { maxLength: 2 }),
  fc.array(fc.tuple(toolName, input), { maxLength: 3 }),
  fc.constantFrom('call_0', 'functions.add:0', 'toolu_01', '7', 'z'.repeat(100)),
);
const history = fc.array(fc.oneof(question, answer), { maxLength: 6 }).map((given) => {
  let n = 1;
  return given.flatMap((one): LanguageModelV4Message[] => {
    if (!Array.isArray(one)) return [one];
    const [texts, made, own] = one;
    const calls = made.map(([name, value]) => ({ toolCallId: `${own}~${++n}`, toolName: name, input: value }));
    return [
      { role: 'assistant', content: [...texts, ...calls.map((call) => ({ type: 'tool-call' as const, ...call }))] },
      ...calls.length === 0 ? [] : [{
        role: 'tool' as const,
        content: calls.map(({ toolCallId, toolName: of }) => ({
          type: 'tool-result' as const,
          toolCallId,
          toolName: of,
          output: { type: 'text' as const, value: toolCallId },
        })),
      }],
    ];
  });
});

function check(prompt: LanguageModelV4Prompt, { id, name, isUnique }: typeof kinds[string] & object): void {
  const used = new Set<string>();
  let open: string[] = [];
  for (const { role, content } of prompt) {
    if (role === 'assistant' && !isUnique) used.clear();
    expect(content.length).toBeGreaterThan(0);
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type !== 'tool-call' && part.type !== 'tool-result') continue;
      expect(part.toolName).toMatch(name);
      expect(part.toolCallId).toMatch(id);
      expect(JSON.stringify(part)).not.toContain('pinnace');
      if (part.type === 'tool-result') {
        expect(open.shift()).toBe(part.toolCallId);
        continue;
      }
      expect(used.has(part.toolCallId)).toBe(false);
      used.add(part.toolCallId);
      open.push(part.toolCallId);
      expect(part.input).toBeTypeOf('object');
      expect(Array.isArray(part.input) || part.input === null).toBe(false);
    }
    if (role === 'tool') expect(open).toEqual([]);
    if (role === 'tool') open = [];
  }
}

describe('fitHistory', () => {
  it.each(Object.entries(kinds))('makes any history one that %s accepts, and only adds to it', (provider, kind) => {
    fc.assert(
      fc.property(history, question, (given, last) => {
        const names = { provider, modelId: 'm' };
        const fitted = fitHistory([...given, last], names);
        check(fitted, kind);
        expect(fitHistory(given, names)).toEqual(fitted.slice(0, -1)); // what is sent later changes nothing before it
        const foreign = [...given, last];
        leaveProvider(foreign);
        check(fitHistory(foreign, names), kind);
      }),
      { numRuns: budget({ short: 60, long: 1_000 }) },
    );
  });
});

describe('a history that others have stored', () => {
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } } as const;
  const called = { toolCallId: 'c', toolName: 'add' };
  const calls = [1, 2].map((a) => ({ type: 'tool-call' as const, ...called, input: { a } }));
  const results = [1, 2].map((value) => ({
    type: 'tool-result' as const,
    ...called,
    output: { type: 'json' as const, value },
  }));
  const again: LanguageModelV4Prompt = [{ role: 'assistant', content: calls }, { role: 'tool', content: results }];

  it.each(Object.entries(kinds))(
    'goes to %s with an id for each call of an answer that has one twice',
    (provider, kind) => {
      const fitted = fitHistory([...hello, ...again, ...again], { provider, modelId: 'm' });
      check(fitted, kind);
      expect(fitted).toHaveLength(5);
    },
  );

  it.each([['anthropic.messages', 'text'], ['openai-compatible.chat', 'text'], ['google.generative-ai', 'file']])(
    'has files of an answer for %s as a %s',
    (provider, type) => {
      const fitted = fitHistory([...hello, { role: 'assistant', content: [file] }], { provider, modelId: 'm' });
      expect(fitted.at(-1)).toMatchObject({ role: 'assistant', content: [{ type }] });
    },
  );
});

/** The bodies that the packages of the AI SDK send for a history, as third parties. */
const packages: Readonly<Record<string, (send: typeof fetch) => LanguageModelV4>> = {
  anthropic: (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude'),
  google: (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })('gemini-3-pro'),
  openai: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt'),
  'openai-compatible': (fetch) => openAiCompatible({ baseUrl: 'http://models.example/v1', model: 'm', fetch }),
};

describe('a fitted history', () => {
  it.each(Object.entries(packages))('is sent by the package %s without anything empty', async (_, create) => {
    await fc.assert(
      fc.asyncProperty(history, question, async (given, last) => {
        let body = '';
        const model = create((_url, init) => {
          body = typeof init?.body === 'string' ? init.body : '';
          return Promise.reject(new TypeError('not sent'));
        });
        const prompt = fitHistory([...given, last], model);
        await Promise.resolve(model.doStream({ prompt })).catch(() => undefined);
        expect(body).not.toBe('');
        expect(body).not.toMatch(
          /"parts":\[\]|"content":\[\]|"arguments":"(?!\{)|"args":[^{]|"role":"assistant","content":""(?!,")/,
        );
        if (/anthropic|gemini/.test(model.provider + model.modelId)) {
          expect(JSON.stringify(firstOf(body))).toContain('"user"');
        }
      }),
      { numRuns: budget({ short: 40, long: 500 }) },
    );
  });
});

function firstOf(body: string): unknown {
  const { messages, contents } = JSON.parse(body) as { messages?: unknown[]; contents?: unknown[] };
  return (messages ?? contents)?.[0];
}

it('gives the calls of a client that repeats one id ids of their own, in linear time', () => {
  const part = { toolCallId: 'c', toolName: 'add' };
  const [call, output] = [{ ...part, type: 'tool-call', input: {} }, { type: 'text', value: '1' }] as const;
  const content = Array.from({ length: 20_000 }, () => call); // in quadratic time it would not end
  const results = content.map(() => ({ ...part, type: 'tool-result' as const, output }));
  const model = { provider: 'openai.chat', modelId: 'm' };
  const fitted = fitHistory([...hello, { role: 'assistant', content }, { role: 'tool', content: results }], model);
  const idsOf = (role: string): string[] => fitted.filter((one) => one.role === role).flatMap((one) => callIdsOf(one));
  expect(new Set(idsOf('assistant')).size).toBe(content.length);
  expect(idsOf('tool')).toEqual(idsOf('assistant'));
});

function callIdsOf({ content }: LanguageModelV4Message): string[] {
  return (typeof content === 'string' ? [] : content).flatMap((part) => 'toolCallId' in part ? [part.toolCallId] : []);
}

describe('the names of parameters', () => {
  const inputSchema = {
    type: 'object' as const,
    properties: {
      $filter: { type: 'string' as const, description: 'OData' },
      _filter: {},
      名前: {},
      'a b': {},
      ok: {},
    },
    required: ['$filter', 'ok'],
  };

  it.each(['anthropic.messages', 'amazon-bedrock', 'google.generative-ai', 'openai.chat', 'mistral.chat'])(
    'have the form that %s takes, and calls have the own ones',
    async (provider) => {
      const isStrict = !/openai|mistral/.test(provider);
      const sent: unknown[] = [];
      const model = scriptedModel().model;
      const inner: LanguageModelV4 = {
        ...model,
        provider,
        doStream: ({ tools }) => {
          const [tool] = tools ?? [];
          if (tool?.type !== 'function') throw new Error('No tool');
          const { properties = {}, required } = tool.inputSchema;
          sent.push(required?.[0]);
          const text = JSON.stringify(Object.fromEntries(Object.keys(properties).map((name) => [name, 1])));
          for (const name of Object.keys(properties)) if (isStrict) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
          const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: text } as const;
          return Promise.resolve({ stream: streamOf([call]) });
        },
      };
      const fitted = withProviderRules(inner, {});
      const tools = [{ type: 'function' as const, name: 'look', inputSchema }];
      const { stream } = await fitted.doStream({ prompt: [], tools });
      const [call] = await Array.fromAsync(stream);
      expect(Object.keys(JSON.parse((call as { input: string }).input) as object)).toEqual(
        Object.keys(inputSchema.properties),
      );
      expect(sent).toEqual([isStrict ? '_filter_2' : '$filter']);
    },
  );
});
