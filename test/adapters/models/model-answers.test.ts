import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAiCompatible, type OpenAiCompatibleOptions } from '../../../adapters/models/openai-compatible.ts';
import { budget } from '../../fixtures/budget.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
const tools: LanguageModelV4CallOptions['tools'] = [
  { type: 'function', name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } },
];

interface Seen {
  readonly bodies: Record<string, unknown>[];
  readonly parts: Part[];
}

type Answer = (body: Record<string, unknown>, number: number) => Response;

/** Calls the model once. */
async function call(
  answer: Answer,
  { request = {}, ...options }: Partial<OpenAiCompatibleOptions> & {
    readonly request?: Partial<LanguageModelV4CallOptions>;
  } = {},
): Promise<Seen> {
  const bodies: Record<string, unknown>[] = [];
  const fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(init?.body as string) as Record<string, unknown>);
    return Promise.resolve(answer(bodies.at(-1) ?? {}, bodies.length));
  };
  const model = openAiCompatible({ baseUrl: 'https://models.example/v1', model: 'm', fetch, ...options });
  const { stream } = await model.doStream({ prompt, ...request });
  return { bodies, parts: await Array.fromAsync(stream) };
}

function textOf({ parts }: Seen): string {
  return parts.map((part) => part.type === 'text-delta' ? part.delta : '').join('');
}

const chunk = (delta: unknown, rest: object = {}, finish: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...rest,
});
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function events(...all: readonly unknown[]): string {
  return all.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
}

function sent(
  body: string,
  { type = 'text/event-stream', headers = {}, status = 200 }: {
    readonly type?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status?: number;
  } = {},
): Response {
  return new Response(body, { status, headers: { 'content-type': type, ...headers } });
}

const plain = [chunk({ role: 'assistant', content: 'hel' }), chunk({ content: 'lo' }), chunk({}, {}, 'stop')];

describe('an answer of a chat completion server', () => {
  it.each<[string, unknown[]]>([
    ['an empty event', ['']],
    ['null', [null]],
    ['a word', ['ping']],
    ['a heartbeat with a type of its own', [{ type: 'heartbeat', at: 1 }]],
    ['an event of another kind', [{ object: 'thread.status', status: 'busy' }]],
    ['the usage alone', [{ usage }]],
    ['the usage with choices that are null', [{ choices: null, usage }]],
    ['no error', [{ ...chunk({ content: '' }), error: null }]],
  ])('goes on behind %s', async (_, between) => {
    for (const at of [0, 1, 2, 3]) {
      const seen = await call(() => sent(events(...plain.toSpliced(at, 0, ...between as typeof plain), '[DONE]')));
      expect(textOf(seen)).toBe('hello');
      expect(seen.parts.find(({ type }) => type === 'error')).toBeUndefined();
      expect(seen.parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'stop' } });
    }
  });

  it.each<[string, object, number | undefined]>([
    ['comes without choices', { usage }, 3],
    ['is in the choice', { choices: [{ index: 0, delta: {}, usage }] }, 3],
    ['is in a field of the vendor', { choices: [], x_groq: { usage } }, 3],
    ['has the names of newer interfaces', { usage: { input_tokens: 3, output_tokens: 2 } }, 3],
    ['counts nothing, as if it were absent', { usage: { prompt_tokens: 0, completion_tokens: 0 } }, undefined],
    ['is empty, as if it were absent', { usage: {} }, undefined],
  ])('counts a usage that %s', async (_, last, total) => {
    const seen = await call(() => sent(events(...plain, last, '[DONE]')));
    expect(seen.parts.at(-1)).toMatchObject({ usage: { inputTokens: { total } } });
  });

  it.each<[string, object[]]>([
    ...[['<thinking>', '</thinking>'], ['<thought>', '</thought>'], ['[THINK]', '[/THINK]'], ['◁think▷', '◁/think▷']]
      .map(
        ([opening, closing]): [string, object[]] => [
          `marks: ${opening}`,
          Array.from(`${opening}Hm${closing}hello`, (content) => ({ content })),
        ],
      ),
    ['a field of Copilot', [{ reasoning_text: 'Hm' }, { content: 'hello' }]],
    ['details alone', [{ reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }, { content: 'hello' }]],
    ['an object', [{ reasoning: { content: 'Hm' } }, { content: 'hello' }]],
  ])('may have its thoughts in %s', async (_, deltas) => {
    const seen = await call(() => sent(events(...deltas.map((delta) => chunk(delta)), plain[2], '[DONE]')));
    const thoughts = seen.parts.map((part) => part.type === 'reasoning-delta' ? part.delta : '').join('');
    expect([thoughts, textOf(seen)]).toEqual(['Hm', 'hello']);
  });

  it.each([
    [
      'a document',
      JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }], usage }),
    ],
    [
      'a message in an event',
      events({ choices: [{ message: { content: 'hello' }, finish_reason: 'stop' }], usage }, '[DONE]'),
    ],
    ['chunks without the marks of events', [...plain, { usage }].map((one) => JSON.stringify(one)).join('\n')],
    ['chunks in lists', events([plain[0], plain[1]], [plain[2], { usage }])],
    ['JSON over several lines', JSON.stringify({ ...chunk({ content: 'hello' }, { usage }, 'stop') }, undefined, 2)],
  ])('is read as %s', async (_, body) => {
    const seen = await call(() => sent(body, { type: 'application/json' }));
    expect(textOf(seen)).toBe('hello');
    expect(seen.parts.at(-1)).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: 3 } },
    });
  });

  it('may give the input of a call as an object, and name other roles', async () => {
    const delta = {
      role: 'model',
      tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: { at: 1 } } }],
    };
    const seen = await call(() => sent(events(chunk(delta), chunk({}, {}, 'tool_calls'), '[DONE]')), {
      request: { tools },
    });
    expect(seen.parts.find(({ type }) => type === 'tool-call')).toMatchObject({ toolName: 'look', input: '{"at":1}' });
  });

  const piece = (given: object) => chunk({ tool_calls: [{ type: 'function', ...given }] });
  const look = { name: 'look', arguments: '{"at":7}' };
  const called = (...chunks: unknown[]) => [...chunks, chunk({}, {}, 'tool_calls')];

  it.each<[string, unknown[]]>([
    ['a list of calls that is empty or null in the texts', [
      chunk({ content: 'hel', tool_calls: [] }),
      chunk({ content: 'lo', tool_calls: null }),
      chunk({}, {}, 'stop'),
    ]],
    ['ids and times of other types', [
      { ...chunk({ content: 'hello' }), id: 12, created: '1718000000', model: null },
      chunk({}, {}, 'stop'),
    ]],
    ['counts that are no numbers', [...plain, { usage: { ...usage, total_tokens: '5', prompt_tokens_details: [] } }]],
    ['the field of completions without roles', [
      { choices: [{ index: 0, text: 'hel' }] },
      { choices: [{ index: 0, text: 'lo', finish_reason: 'stop' }] },
    ]],
    ['thoughts in parts', [chunk({ reasoning_content: [{ type: 'text', text: 'hm' }] }), ...plain]],
    ['thoughts in an object', [chunk({ reasoning: { text: 'hm' } }), ...plain]],
    ['an error that is empty', [{ ...chunk({ content: 'hello' }), error: {} }, {
      ...chunk({}, {}, 'stop'),
      error: '',
    }]],
    ['an end without a reason', plain.slice(0, 2)],
    ['thoughts between marks', [chunk({ content: '<think>Hm</think>\n\nhello' }), chunk({}, {}, 'stop')]],
    ['thoughts between marks in pieces', [
      ...['\n<thi', 'nk>', 'Hm', '</th', 'ink>hel', 'lo'].map((content) => chunk({ content })),
      chunk({}, {}, 'stop'),
    ]],
    ['its marks twice', ['data: ' + JSON.stringify(plain[0]), ...plain.slice(1)]],
    ['more behind its end', [...plain, '[DONE]', chunk({ content: '!' })]],
    ['an end with an empty reason', [...plain.slice(0, 2), chunk({}, {}, '')]],
    ['a delta that is null at the end', [...plain.slice(0, 2), { choices: [{ delta: null, finish_reason: 'stop' }] }]],
  ])('may have %s', async (_, all) => {
    const texts = all.map((one) => typeof one === 'string' ? one : JSON.stringify(one));
    for (
      const body of [
        events(...all, '[DONE]'),
        `${texts.map((one) => `data: ${one}\n`).join('')}data: [done]\n`,
      ]
    ) {
      const seen = await call(() => sent(body));
      expect(textOf(seen)).toBe('hello');
      expect(seen.parts.at(-1)).toMatchObject({
        type: 'finish',
        finishReason: { unified: expect.stringMatching(/stop|other/) },
      });
      expect(seen.parts.filter(({ type }) => type === 'error')).toEqual([]);
    }
  });

  it.each<[string, unknown[], number]>([
    ['fields that are null at first', [
      piece({ index: 0, id: null, function: { name: null, arguments: null } }),
      piece({ index: 0, id: 'a', function: { ...look, arguments: '' } }),
      piece({ index: 0, id: null, function: { name: null, arguments: look.arguments } }),
    ], 1],
    ['its name in every piece', [
      piece({ index: 0, id: 'a', function: { ...look, arguments: '{"at"' } }),
      piece({ index: 0, id: 'a', function: { ...look, arguments: ':7}' } }),
    ], 1],
    ['the field before there were several', [
      chunk({ content: null, function_call: { name: 'look', arguments: '' } }),
      chunk({ function_call: { arguments: look.arguments } }),
    ], 1],
    ['no list around it', [chunk({ tool_calls: { index: 0, id: 'a', function: look } })], 1],
    ['a place that is a text', [
      piece({ index: '0', id: 'a', function: look }),
      piece({ index: '1', id: 'b', function: look }),
    ], 2],
    ['no place, and one after the other', [piece({ id: 'a', function: look }), piece({ id: 'b', function: look })], 2],
    ['the same place for all', [
      piece({ index: 0, id: 'a', function: look }),
      piece({ index: 0, id: 'b', function: look }),
    ], 2],
    ['no ids', [piece({ index: 0, function: look }), piece({ index: 1, id: '', function: look })], 2],
    ['a number as its id', [piece({ index: 0, id: 31, function: look })], 1],
    ['its name and input without a field around them', [piece({ index: 0, id: 'a', ...look })], 1],
    ['its input under another name', [
      piece({ index: 0, id: 'a', function: { name: 'look', parameters: { at: 7 } } }),
      piece({ index: 1, id: 'b', name: 'look', input: { at: 7 } }),
    ], 2],
    ['the whole call again behind its pieces', [
      piece({ index: 0, id: 'a', function: { ...look, arguments: '{"at"' } }),
      piece({ index: 0, function: { arguments: ':7}' } }),
      piece({ index: 0, id: 'a', function: look }),
    ], 1],
  ])('may have a call with %s', async (_, chunks, count) => {
    const seen = await call(() => sent(events(...called(...chunks), '[DONE]')), { request: { tools } });
    expect(seen.parts.filter(({ type }) => type === 'tool-call')).toEqual(
      Array.from({ length: count }, () => expect.objectContaining({ toolName: 'look', input: look.arguments })),
    );
    expect(seen.parts.at(-1)).toMatchObject({ finishReason: { unified: 'tool-calls' } });
  });

  it('may have a list instead of an empty input', async () => {
    const seen = await call(
      () => sent(events(...called(piece({ index: 0, id: 'a', function: { name: 'look', arguments: [] } })), '[DONE]')),
      { request: { tools } },
    );
    expect(seen.parts.find(({ type }) => type === 'tool-call')).toMatchObject({ input: '{}' });
  });

  const signed = { reasoning_details: [{ type: 'reasoning.encrypted', data: 'SIG', id: 'a', index: 0 }] };
  const routed = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish, native_finish_reason: finish }],
  });
  const opened = { tool_calls: [{ index: 0, id: 'a', function: look }] };
  const texts = [{ text: 'I ', index: 0 }, { text: 'see', index: 0 }, { signature: 'S', text: '', index: 0 }]
    .map((one) => routed({ reasoning_details: [{ type: 'reasoning.text', ...one }] }));

  it.each<[string, unknown[], unknown[]]>([
    ['before it', [routed(signed), routed(opened)], signed.reasoning_details],
    ['beside it', [routed({ ...opened, ...signed })], signed.reasoning_details],
    ['behind it', [routed(opened), routed(signed)], signed.reasoning_details],
    ['in pieces', [...texts, routed(opened)], [{
      type: 'reasoning.text',
      text: 'I see',
      signature: 'S',
      index: 0,
    }]],
  ])('sends the signed thoughts of a call back that came %s', async (_, chunks, details) => {
    const body = events(...chunks, routed({}, 'tool_calls'));
    const { parts } = await call(() => sent(body), { request: { tools } });
    const made = parts.find((part) => part.type === 'tool-call');
    const back: LanguageModelV4CallOptions['prompt'] = [
      ...prompt,
      {
        role: 'assistant',
        content: [{
          type: 'tool-call',
          toolCallId: 'a',
          toolName: 'look',
          input: {},
          providerOptions: made!.providerMetadata!,
        }],
      },
    ];
    const { bodies } = await call(() => sent(events(...plain, '[DONE]')), { request: { prompt: back } });
    expect((bodies[0] as { messages: unknown[] }).messages[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning_details: details,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
    });
  });

  it.each<[string, unknown]>([
    ['beside its last words', {
      ...chunk({ content: 'lo' }, {}, 'error'),
      error: { code: 502, message: 'Upstream left' },
    }],
    ['in the choice', {
      choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'Upstream left' } }],
    }],
    ['by its finish alone', chunk({ content: '' }, {}, 'error')],
  ])('may end with an error %s', async (_, last) => {
    const { parts } = await call(() => sent(events(plain[0], last, '[DONE]')));
    expect(parts.filter(({ type }) => type === 'error')).toHaveLength(1);
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'error' } });
    expect(parts.some((part) => part.type === 'text-delta' && part.delta === 'hel')).toBe(true);
  });

  it('is tried again where the server could not read the call of its model', async () => {
    const error = { message: "See 'failed_generation'", type: 'invalid_request_error', code: 'tool_use_failed' };
    await expect(call(() => sent(JSON.stringify({ error }), { status: 400, type: 'application/json' }))).rejects
      .toMatchObject({ isRetryable: true });
  });

  it.each<[string, string, object]>([
    ['a number', JSON.stringify({ error: { code: 429, message: 'slow down' } }), {
      statusCode: 429,
      isRetryable: true,
    }],
    ['words', JSON.stringify({ error: { type: 'rate_limit_exceeded', message: 'slow down' } }), { statusCode: 429 }],
    ['a text', JSON.stringify({ error: 'Model is overloaded' }), { statusCode: 503, isRetryable: true }],
    ['an object of its own', JSON.stringify({ object: 'error', message: 'no such model', code: 404 }), {
      statusCode: 404,
    }],
    ['a list', JSON.stringify([{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } }]), {
      statusCode: 400,
      isRetryable: false,
    }],
    ['the first event', events({ error: { message: 'bad key', code: 'invalid_api_key' } }), {
      statusCode: 401,
      isRetryable: false,
    }],
    ['a code of its vendor', JSON.stringify({ code: 1310, msg: 'too many requests in this hour' }), {
      statusCode: 429,
    }],
    ['a record of its state', JSON.stringify({ base_resp: { status_code: 2013, status_msg: 'bad request' } }), {
      statusCode: 400,
    }],
    ['a list of errors', JSON.stringify({ success: false, errors: [{ code: 9, message: 'forbidden' }] }), {
      statusCode: 401,
    }],
    ['a fault', JSON.stringify({ fault: { faultstring: 'Quota violation' } }), { statusCode: 429 }],
    ['an exception', JSON.stringify({ __type: 'ThrottlingException', message: 'Too many requests' }), {
      statusCode: 429,
    }],
    ['a type', JSON.stringify({ type: 'overloaded_error', message: 'Busy' }), { statusCode: 503 }],
    ['a message alone', JSON.stringify({ message: 'Service unavailable' }), { statusCode: 503 }],
    ['no number', JSON.stringify({ error: { message: 'oops' } }), { statusCode: 500, isRetryable: true }],
  ])('with status 200 is the error that it reports by %s', async (_, body, error) => {
    for (const type of ['application/json', 'text/event-stream']) {
      await expect(call(() => sent(body, { type, headers: { 'retry-after': '7' } })))
        .rejects.toMatchObject({ name: 'AI_APICallError', responseHeaders: { 'retry-after': '7' }, ...error });
    }
  });

  it('says that a web page is no answer', async () => {
    await expect(call(() => sent('\n<!doctype html><p>Sign in', { type: 'text/html; charset=utf-8' }))).rejects
      .toMatchObject({
        code: 'unavailable',
        retryable: false,
        details: { reason: 'provider_invalid_response' },
        message: expect.stringContaining('text/html'),
      });
  });

  it('is the same however its bytes are cut, its lines end and heartbeats come in between', async () => {
    const said = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 });
    const beats = fc.array(
      fc.constantFrom(': beat', 'data:', 'data: null', 'event: ping', 'data: {"type":"ping"}', 'id: 1', 'retry: 10'),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        said,
        beats,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.integer({ min: 1, max: 40 }),
        async (words, between, eol, size) => {
          const all = [...words.map((content) => chunk({ content })), chunk({}, { usage }, 'stop')].map((one) =>
            `data: ${JSON.stringify(one)}`
          );
          const lines = all.flatMap((line, at) => [line, ...between[at] === undefined ? [] : [between[at]]]);
          const bytes = new TextEncoder().encode(lines.map((line) => `${line}${eol}${eol}`).join(''));
          const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
            start(controller) {
              for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
              controller.close();
            },
          });
          const seen = await call(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
          expect(textOf(seen)).toBe(words.join(''));
          expect(seen.parts.at(-1)).toMatchObject({
            finishReason: { unified: 'stop' },
            usage: { outputTokens: { total: 2 } },
          });
        },
      ),
      { numRuns: budget({ short: 60, long: 1_000 }) },
    );
  });

  it('stays as it is where no stream was requested', async () => {
    const fetch = (): Promise<Response> =>
      Promise.resolve(
        sent(JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }), {
          type: 'application/json',
        }),
      );
    const model = openAiCompatible({ baseUrl: 'https://models.example/v1', model: 'm', fetch });
    expect((await model.doGenerate({ prompt })).content).toEqual([{ type: 'text', text: 'hi' }]);
  });
});

describe('a parameter that a server refuses', () => {
  const refusing =
    (isRefused: (body: Record<string, unknown>) => boolean, error: unknown, status = 400): Answer => (body) =>
      isRefused(body)
        ? sent(JSON.stringify(error), { status, type: 'application/json' })
        : sent(events(...plain, '[DONE]'));

  it('is the newer name of the limit of an answer, where the older is refused', async () => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const seen = await call(refusing((body) => 'max_tokens' in body, { error: { message, param: 'max_tokens' } }), {
      request: { maxOutputTokens: 50 },
    });
    expect(seen.bodies.at(-1)).toMatchObject({ max_completion_tokens: 50 });
    expect(seen.bodies.at(-1)).not.toHaveProperty('max_tokens');
  });

  it('is never a limit whose value is too large, nor what its caller has set', async () => {
    const tooLarge = { error: { message: 'max_tokens is too large: 99999. This model supports at most 4096.' } };
    const large = call(refusing((body) => 'max_tokens' in body, tooLarge), { request: { maxOutputTokens: 99_999 } });
    await expect(large).rejects.toMatchObject({ statusCode: 400 });
    const fixed = { error: { message: "Unsupported value: 'temperature' does not support 0.2", param: 'temperature' } };
    const cold = call(refusing((body) => 'temperature' in body, fixed), { request: { temperature: 0.2 } });
    await expect(cold).rejects.toMatchObject({ statusCode: 400 });
  });

  it('is left out from the start where the record of the provider says so', async () => {
    const seen = await call(() => sent(events(...plain, '[DONE]')), {
      unsupportedParameters: ['stream_options', 'temperature'],
      request: { temperature: 0.2 },
    });
    expect(Object.keys(seen.bodies[0] ?? {})).not.toEqual(expect.arrayContaining(['stream_options']));
    expect(seen.bodies[0]).not.toHaveProperty('temperature');
  });
});

describe('a schema that the server cannot make a grammar of', () => {
  const inputSchema = {
    type: 'object' as const,
    properties: { pattern: { type: 'string' as const, pattern: '[0-9]' }, of: { items: { maxLength: 3 } } },
  };
  const grammar = (status: number, message: string): Answer => (body) =>
    JSON.stringify(body).includes('[0-9]')
      ? sent(JSON.stringify({ error: { message } }), { status, type: 'application/json' })
      : sent(events(...plain, '[DONE]'));

  it.each([
    [400, "JSON schema conversion failed: Pattern must start with '^' and end with '$'"],
    [400, 'Failed to initialize samplers: failed to parse grammar'],
    [500, 'Failed to parse grammar'],
  ])('is sent again without what is about characters: status %d, %s', async (status, message) => {
    const seen = await call(grammar(status, message), {
      request: { tools: [{ type: 'function', name: 'look', inputSchema }] },
    });
    expect(textOf(seen)).toBe('hello');
    expect(seen.bodies[1]?.['tools']).toMatchObject([{
      function: { parameters: { type: 'object', properties: { pattern: { type: 'string' }, of: { items: {} } } } },
    }]);
    expect(JSON.stringify(seen.bodies[1])).not.toMatch(/\[0-9\]|maxLength/);
  });

  it('is not sent again where the server fails for another reason', async () => {
    const other = call(grammar(500, 'Out of memory'), {
      request: { tools: [{ type: 'function', name: 'look', inputSchema }] },
    });
    await expect(other).rejects.toMatchObject({ statusCode: 500 });
  });
});

describe('what an answer has besides words', () => {
  const png = 'data:image/png;base64,iVBORw0KGgo=';
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } };
  const source = (url: string, title?: string) => ({
    type: 'source',
    sourceType: 'url',
    id: url,
    url,
    ...title && { title },
  });

  it.each<[string, object, object, object[]]>([
    ['an image', { images: [{ type: 'image_url', image_url: { url: png } }] }, {}, [file]],
    ['an image among texts', { content: [{ type: 'image_url', image_url: png }] }, {}, [file]],
    ['an image elsewhere', { images: [{ image_url: { url: 'https://a.example/1.png' } }] }, {}, [
      source('https://a.example/1.png'),
    ]],
    [
      'annotations',
      { annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }] },
      {},
      [
        source('https://a.example', 'A'),
      ],
    ],
    ['citations', {}, { citations: ['https://a.example', 'https://b.example'] }, [
      source('https://a.example'),
      source('https://b.example'),
    ]],
    ['results', {}, { citations: ['https://a.example'], search_results: [{ url: 'https://a.example', title: 'A' }] }, [
      source('https://a.example', 'A'),
    ]],
    ['an address that runs code', {}, { citations: ['javascript:alert(1)', 7, null] }, []],
  ])('is read: %s', async (_, delta, beside, expected) => {
    const odd = chunk(delta, beside);
    const seen = await call(() => sent(events(plain[0], odd, odd, ...plain.slice(1), '[DONE]')));
    expect(seen.parts.filter(({ type }) => type === 'file' || type === 'source')).toEqual(expected);
    expect(seen.parts.at(-1)).toMatchObject({ type: 'finish', providerMetadata: { 'openai-compatible': {} } });
    expect(JSON.stringify(seen.parts.at(-1))).not.toContain('Extras');
  });
});

describe('a JSON Schema of an answer', () => {
  const of = async (schema: object): Promise<unknown> => {
    const responseFormat = { type: 'json' as const, schema };
    const { bodies } = await call(() => sent(events(...plain, '[DONE]')), {
      jsonSchema: true,
      request: { responseFormat },
    });
    return (bodies[0] as { response_format: { json_schema: { strict: boolean } } }).response_format.json_schema.strict;
  };
  const city = { type: 'string' };

  it('is strict where it leaves nothing open', async () => {
    const item = { type: 'object', properties: { city }, required: ['city'], additionalProperties: false };
    expect(await of(item)).toBe(true);
    expect(
      await of({
        type: 'object',
        properties: { items: { type: 'array', items: item } },
        required: ['items'],
        additionalProperties: false,
      }),
    ).toBe(true);
  });
});
