import {
  APICallError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart as Part,
  TypeValidationError,
} from '@ai-sdk/provider';
import type { UIMessage } from 'ai';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  defineTool,
  type LanguageModel,
  localPrincipal,
  type PinnaceError,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** The script of a provider that ends so. */
function ending(script: readonly Part[], finishReason: LanguageModelV4FinishReason): Part[] {
  return script.map((part) => part.type === 'finish' ? { ...part, finishReason } : part);
}

async function run(runtime: ReturnType<typeof testRuntime>): Promise<UIMessageChunk[]> {
  return await readAll(await runtime.run(runRequest(), me));
}

describe('the tools of a request', () => {
  const a = { type: 'string' };
  const b = { type: 'integer' };
  const needsOne = [{ required: ['a'] }, { required: ['b'] }];
  const words = 'Fields that belong together: a; or b.';

  it.each<[string, object, object]>([
    [
      'alternatives beside its properties',
      { type: 'object', properties: { a, b, c: a }, required: ['c'], oneOf: needsOne },
      { type: 'object', properties: { a, b, c: a }, required: ['c'], description: words },
    ],
    [
      'alternatives that are objects',
      { anyOf: needsOne.map((one, at) => ({ type: 'object', properties: at === 0 ? { a } : { a: b, b }, ...one })) },
      { type: 'object', properties: { a: { anyOf: [a, b] }, b }, description: words },
    ],
    [
      'a field in all of its alternatives',
      { type: 'object', description: 'Text.', oneOf: [{ properties: { a }, required: ['a'] }, { required: ['a'] }] },
      { type: 'object', properties: { a }, required: ['a'], description: 'Text.' },
    ],
    [
      'parts and a reference',
      { $ref: '#/$defs/in', $defs: { in: { type: 'object', allOf: [{ properties: { a }, required: ['a'] }] } } },
      { type: 'object', properties: { a }, required: ['a'] },
    ],
    [
      'an array without items',
      { type: 'object', properties: { items: { type: ['array', 'null'] } } },
      { type: 'object', properties: { items: { type: ['array', 'null'], items: {} } } },
    ],
    [
      'a list of another draft',
      { type: 'object', properties: { a: { type: 'array', items: [a, b], additionalItems: false } } },
      { type: 'object', properties: { a: { type: 'array', prefixItems: [a, b], items: false } } },
    ],
    [
      'a bound of another draft, and no values',
      { type: 'object', properties: { b: { type: 'number', minimum: 0, exclusiveMinimum: true, enum: [] } } },
      { type: 'object', properties: { b: { type: 'number', exclusiveMinimum: 0 } } },
    ],
  ])('have schemas that every provider takes: %s', async (_, input, sent) => {
    const model = scriptedModel(says('Hi'));
    const tool = defineTool({ id: 'odd', description: 'Odd', input: input as { type: 'object' }, execute: () => 1 });
    await run(testRuntime({ ...model, tools: [tool], agent: { entryTools: ['odd'] } }));
    const [offered] = model.calls[0]?.tools ?? [];
    const { $defs: _defs, ...schema } = (offered?.type === 'function' ? offered.inputSchema : {}) as {
      $defs?: unknown;
    };
    expect(schema).toEqual(sent);
  });
});

describe('a request that the endpoint refuses', () => {
  const refusing = (facts: Partial<ConstructorParameters<typeof APICallError>[0]>): LanguageModel => ({
    ...scriptedModel().model,
    doStream: () =>
      Promise.reject(
        new APICallError({
          message: 'A secret prompt was refused',
          url: 'https://models.example/v1/chat/completions',
          requestBodyValues: { model: 'm', messages: ['A secret prompt'], temperature: 0.2, top_p: 1, max_tokens: 9 },
          ...facts,
        }),
      ),
  });
  const errorOf = async (facts: Parameters<typeof refusing>[0]): Promise<Record<string, unknown>> => {
    const chunks = await run(testRuntime({ model: refusing(facts), limits: { modelRetries: 0 } }));
    expect(JSON.stringify(chunks)).not.toContain('secret');
    return lastData(chunks, 'data-run')['error'] as Record<string, unknown>;
  };

  it.each([
    ['temperature', "Unsupported value: 'temperature' does not support 0.2 with a secret prompt"],
    ['top_p', '{"error":{"param":"top_p","message":"no"}}'],
    ['max_tokens', 'max_tokens is too large: 9'],
  ])('is an error that names the parameter: %s', async (parameter, responseBody) => {
    expect(await errorOf({ statusCode: 400, responseBody })).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(JSON.stringify(parameter)),
      details: { reason: 'provider_invalid_request', status: 400, parameter },
    });
  });

  it.each([
    [400, 'The model takes at most 4,096 tokens: maximum context length exceeded', 'provider_context_length'],
    [413, 'Request too large for model "m": limit 6000 tokens, requested 9000', 'provider_context_length'],
    [413, '<h1>Payload Too Large</h1>', 'provider_context_length'],
    [429, 'Request too large for "m" on tokens per minute: limit 900, requested 1200', 'provider_context_length'],
    [400, 'The maximum prompt length of this model is 700 tokens, the request has 812', 'provider_context_length'],
    [400, 'Input length 812 exceeds the maximum allowed input length of 700', 'provider_context_length'],
    [400, 'Your request exceeded the model token limit: 700 (requested: 812)', 'provider_context_length'],
    [400, 'invalid params, context window exceeds limit', 'provider_context_length'],
    [400, 'The input (812 tokens) is longer than the context of the model', 'provider_context_length'],
    [400, 'The decoder prompt (length 812) is longer than the maximum model length', 'provider_context_length'],
    [422, '`inputs` tokens + `max_new_tokens` must be <= 700. Given: 812', 'provider_context_length'],
    [400, 'Range of input length should be [1, 700]', 'provider_context_length'],
    [400, 'Prompt 超长', 'provider_context_length'],
    [500, 'context shift is disabled', 'provider_context_length'],
    [429, 'Too many tokens, please wait', 'provider_rate_limited'],
    [400, 'Invalid tools: array too long, expected at most 128', 'provider_invalid_request'],
    [400, 'The image exceeds 5 MB', 'provider_invalid_request'],
    [500, 'the input length exceeds the context', 'provider_context_length'],
    [400, 'API key not valid', 'provider_auth'],
    [403, 'Region not supported', 'provider_auth', 'refused access'],
    [400, 'llama2 does not support tools', 'provider_invalid_request', 'takes no tools'],
    [404, 'No endpoints found that support tool use', 'provider_invalid_request', 'takes no tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice', 'provider_invalid_request', 'takes no tools'],
    [409, 'The resource is busy', 'provider_unavailable'],
    [400, 'Something else is wrong', 'provider_invalid_request'],
  ])('says what the refusal means: status %d, %s', async (statusCode, message, reason, words = '') => {
    const error = await errorOf({ statusCode, responseBody: JSON.stringify({ error: { message } }) });
    expect(error).toMatchObject({ message: expect.stringContaining(words), details: { reason } });
  });

  it('names nothing else of the request or of the error', async () => {
    const error = await errorOf({ statusCode: 422, responseBody: 'A secret prompt in messages of the model m' });
    expect(error['details']).toEqual({ reason: 'provider_invalid_request', status: 422 });
  });
});

describe('an answer that is not complete', () => {
  it.each(
    [
      ['length', 'limit of output tokens'],
      ['content-filter', 'filtered'],
    ] as const,
  )('stops the run when it ends with the reason "%s" before its calls can be made', async (reason, why) => {
    const script = ending(callsTools({ tool: 'nothing', input: {} }), { unified: reason, raw: reason });
    const model = scriptedModel(script);
    const chunks = await run(testRuntime(model));
    expect(model.calls).toHaveLength(1);
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'stopped',
      error: {
        code: 'budget_exceeded',
        details: { reason: 'answer_incomplete' },
        message: expect.stringContaining(why),
      },
    });
    expect(terminalChunks(chunks)).toEqual([{ type: 'finish', finishReason: reason }]);
  });

  it.each([
    ['max_output_tokens', 'stopped', 'answer_incomplete'],
    ['MODEL_LENGTH', 'stopped', 'answer_incomplete'],
    ['sensitive', 'stopped', 'answer_incomplete'],
    ['cancelled', 'failed', 'provider_unavailable'],
    ['network_error', 'failed', 'provider_unavailable'],
    ['UNEXPECTED_TOOL_CALL', 'failed', 'provider_unavailable'],
    ['eos', 'failed', 'provider_empty_answer'],
  ])('ends as what its server means by "%s" when it says nothing', async (raw, state, reason) => {
    const model = scriptedModel(ending(says(''), { unified: 'other', raw }));
    const end = lastData(await run(testRuntime({ ...model, limits: { modelRetries: 0 } })), 'data-run');
    expect([end['state'], (end['error'] as PinnaceError | undefined)?.details?.['reason']]).toEqual([state, reason]);
  });

  it('fails when it announces a call that never arrives', async () => {
    const script = callsTools({ tool: 'nothing', input: {} }).map((part): Part =>
      part.type === 'tool-call' ? { type: 'tool-input-start', id: 'c', toolName: 'nothing' } : part
    );
    const chunks = await run(testRuntime({ ...scriptedModel(script), limits: { modelRetries: 0 } }));
    const error = { code: 'unavailable', details: { reason: 'provider_stream_cut' } };
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
  });

  it('completes the run with what was said when a text reaches the limit', async () => {
    const chunks = await run(testRuntime(scriptedModel(ending(says('Half'), { unified: 'length', raw: 'length' }))));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(terminalChunks(chunks)).toEqual([{ type: 'finish', finishReason: 'length' }]);
  });
});

describe('an event that the package of a provider does not know', () => {
  const unread = (value: object): Part => ({ type: 'error', error: new TypeValidationError({ value, cause: 'kind' }) });

  it.each<[string, Part, string]>([
    ['is left out where its kind is new', unread({ type: 'content_block_budget', left: 1 }), 'completed'],
    [
      'is left out where a block is of a new kind',
      unread({
        type: 'content_block_start',
        content_block: { type: 'hologram' },
      }),
      'completed',
    ],
    [
      'ends the run where a known one is damaged',
      unread({
        type: 'content_block_delta',
        delta: { type: 'text_delta' },
      }),
      'failed',
    ],
    ['ends the run where it is of another form', unread({ type: 'response.output_text.delta' }), 'failed'],
  ])('%s', async (_, part, state) => {
    const [start, ...rest] = says('Here', ' you are');
    const model = scriptedModel([start!, part, ...rest.slice(0, 2), part, ...rest.slice(2)]);
    const chunks = await run(testRuntime({ ...model, limits: { modelRetries: 0 } }));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state });
  });
});

describe('a chat with an answer that was stopped before its first word', () => {
  const user: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

  it('is refused where a call has no state that the AI SDK knows, instead of losing the call', async () => {
    const toolInvocation = { state: 'result', toolCallId: 'c', toolName: 'look', args: {}, result: 1 };
    for (
      const part of [{ type: 'tool-invocation', toolInvocation }, { type: 'tool-look', toolCallId: 'c', state: 'done' }]
    ) {
      const messages = [user, { id: 'm2', role: 'assistant', parts: [part] }, { ...user, id: 'm3' }] as UIMessage[]; // of another version
      await expect(testRuntime(scriptedModel()).run(runRequest({ chat: { id: 'c', messages } }), me)).rejects
        .toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_messages' } });
    }
  });

  it('goes on without it', async () => {
    const model = scriptedModel(says('Here'));
    const messages: UIMessage[] = [user, { id: 'm2', role: 'assistant', parts: [] }, { ...user, id: 'm3' }];
    const chunks = await readAll(await testRuntime(model).run(runRequest({ chat: { id: 'c', messages } }), me));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(model.calls[0]).toMatchObject({ prompt: { length: 2 } });
  });

  it('still needs what the person wrote', async () => {
    const chat = { id: 'c', messages: [{ ...user, parts: [] }] };
    await expect(testRuntime(scriptedModel()).run(runRequest({ chat }), me)).rejects.toThrow('at least 1 long');
  });

  it('says which part of it no client sends', async () => {
    const chat = { id: 'c', messages: [{ ...user, parts: [{ type: 'picture', url: 'x' }] }] };
    await expect(testRuntime(scriptedModel()).run(runRequest({ chat } as never), me)).rejects.toThrow(
      'a part "picture" of message "m1"',
    );
  });
});

const realTimeout = setTimeout;

describe('a model that takes too long', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Runs the model while the time passes; says how the run failed, and how long after its first call the model was stopped. */
  async function timeOf(model: LanguageModel): Promise<{ error: unknown; stoppedAfterMs: number }> {
    const [called, ended] = [Promise.withResolvers<number>(), Promise.withResolvers<true>()];
    let stoppedAt = Infinity;
    const doStream: LanguageModel['doStream'] = async (options) => {
      called.resolve(performance.now());
      options.abortSignal?.addEventListener('abort', () => (stoppedAt = Math.min(stoppedAt, performance.now())));
      return await model.doStream(options);
    };
    const limits = { firstChunkMs: 30_000, chunkMs: 20_000, stepMs: 120_000, modelRetries: 1 };
    const running = run(testRuntime({ model: { ...model, doStream }, limits })).finally(() => ended.resolve(true));
    const calledAt = await called.promise;
    while (!await Promise.race([ended.promise, new Promise<false>((resolve) => realTimeout(resolve, 0, false))])) {
      if (stoppedAt === Infinity) await vi.advanceTimersByTimeAsync(1_000);
    }
    return { error: lastData(await running, 'data-run')['error'], stoppedAfterMs: stoppedAt - calledAt };
  }

  function silentModel(doStream: LanguageModel['doStream']): LanguageModel {
    return { ...scriptedModel().model, doStream };
  }

  it('is stopped when it never sends headers, as soon as the first chunk is due', async () => {
    const { error, stoppedAfterMs } = await timeOf(silentModel(() => new Promise(() => undefined)));
    expect(error).toMatchObject({ code: 'deadline_exceeded', details: { reason: 'first_chunk_timeout' } });
    expect(stoppedAfterMs).toBe(30_000);
  });
});

describe('an answer without a word', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const thinks: Part[] = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
    { type: 'reasoning-end', id: 'r' },
  ];
  const silent = says('');
  const acting = (words: string) => [...says(words).slice(0, -1), ...callsTools({ tool: 'look', input: {} })];

  it.each<[string, Part[][], string, string | undefined, number]>([
    ['once', [silent, says('Here')], 'completed', undefined, 2],
    ['again and again', [silent, silent], 'failed', 'provider_empty_answer', 2],
    ['after a tool', [acting(''), silent, says('Here')], 'completed', undefined, 3],
    ['after a tool that it has announced', [acting('I look'), silent], 'completed', undefined, 2],
    ['but its thoughts', [[...thinks, ...silent], says('Late')], 'completed', undefined, 2],
    ['but its thoughts each time', [[...thinks, ...silent]], 'failed', 'provider_empty_answer', 2],
    ['but space', [says('\n'), says('Late')], 'completed', undefined, 2],
    [
      'but that it pauses',
      [ending(says('I look'), { unified: 'stop', raw: 'pause_turn' }), says('Here')],
      'completed',
      undefined,
      2,
    ],
  ])('is none when the model says nothing %s', async (_, scripts, state, reason, calls) => {
    const look = defineTool({ id: 'look', description: 'Looks', input: v.object({}), execute: () => 'seen' });
    const model = scriptedModel(...scripts);
    let isOver = false;
    const running = run(testRuntime({ ...model, tools: [look], limits: { modelRetries: 1 } })).finally(
      () => (isOver = true),
    );
    while (!isOver) {
      await new Promise((resolve) => realTimeout(resolve, 0));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const end = lastData(await running, 'data-run');
    expect([end['state'], (end['error'] as PinnaceError | undefined)?.details?.['reason']]).toEqual([state, reason]);
    expect(model.calls).toHaveLength(calls);
  });
});

describe('a run that is stopped while its model connects', () => {
  it('cancels the answer that arrives later', async () => {
    const connecting = Promise.withResolvers<void>();
    const connected = Promise.withResolvers<void>();
    const canceled = Promise.withResolvers<unknown>();
    const stream = new ReadableStream<Part>({ cancel: canceled.resolve });
    const { model } = scriptedModel();
    const slow: LanguageModel = {
      ...model,
      doStream: async () => {
        connecting.resolve();
        await connected.promise;
        return { stream };
      },
    };
    const caller = new AbortController();
    const reading = testRuntime({ model: slow }).run(runRequest(), me, { signal: caller.signal }).then(readAll);
    await connecting.promise;
    caller.abort('left');
    expect(terminalChunks(await reading)).toMatchObject([{ type: 'abort' }]);
    connected.resolve();
    expect(await canceled.promise).toBe('left');
  });
});

describe('an answer that ends with `stop` beside calls', () => {
  const stop = { unified: 'stop', raw: 'stop' } as const;
  const script = ending(callsTools({ tool: 'look', input: {} }), stop);
  const look = defineTool({ id: 'look', description: 'Looks', input: v.looseObject({}), execute: () => 'seen' });

  it('stops the run at its limit of steps: the results have no reader', async () => {
    const chunks = await run(testRuntime({ ...scriptedModel(script), tools: [look], limits: { steps: 1 } }));
    const error = { code: 'budget_exceeded', details: { reason: 'steps' } };
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'stopped', error });
  });
});

describe('a call whose name or input a server wraps', () => {
  it.each([
    ['spaces', ' act ', '{"n":1}'],
    ['control words of the model', 'act<|channel|>commentary', '{"n":1}'],
    ['the name of a list', 'functions.act', '{"n":1}'],
    ['a list and a number', 'functions.act:0', '{"n":1}'],
    ['an input that is encoded twice', 'act', '"{\\"n\\":1}"'],
    ['an input behind an empty one', 'act', '{} {"n":1}'],
    ['an input that is sent again as a whole', 'act', '{"n":1}{"n":1}'],
    ['an input in a fence', 'act', '```json\n{"n":1}\n```'],
    ['an input with a comma behind its last item', 'act', '{"n":1, }'],
    ['an input with line breaks in a text', 'act', '{"n":1,"note":"a\n\tb"}'],
    ['an input with a mark too many', 'act', '{"n":1}}'],
    ['an input with control words behind it', 'act', '{"n":1}</tool_call><|im_end|>'],
  ])('is made: %s', async (_, toolName, input) => {
    const inputs: unknown[] = [];
    const act = defineTool({
      id: 'act',
      description: 'Acts',
      input: v.object({ n: v.number(), note: v.optional(v.string()) }),
      execute: (one) => (inputs.push(one), 'done'),
    });
    const script = callsTools({ tool: toolName, input: {} }).map((part) =>
      part.type === 'tool-call' ? { ...part, input } : part
    );
    const model = scriptedModel(script, says('Done'));
    await run(testRuntime({ ...model, tools: [act] }));
    expect(inputs).toMatchObject([{ n: 1 }]);
    expect(JSON.stringify(model.calls[1])).toContain('"toolName":"act"');
  });
});
