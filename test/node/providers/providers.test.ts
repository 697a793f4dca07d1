import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defineTool,
  localPrincipal,
  type RunRequestInput,
  type UIMessage,
  type UIMessageChunk,
} from '../../../src/index.ts';
import { startEndpoints } from '../../fixtures/providers/endpoints.ts';
import {
  cutFetch,
  type ProviderName,
  providers,
  rememberingFetch,
  type SentRequest,
} from '../../fixtures/providers/providers.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime, textOf } from '../../fixtures/runtime.ts';

const names = Object.keys(providers) as ProviderName[];
let endpoints: Awaited<ReturnType<typeof startEndpoints>>;

beforeAll(async () => {
  endpoints = await startEndpoints(names);
});
afterAll(() => endpoints.stop());

const weather = defineTool({
  id: 'weather',
  description: 'Returns the weather',
  input: v.object({ city: v.string() }),
  annotations: { readOnlyHint: true },
  execute: ({ city }) => ({ city, sky: 'sunny' }),
});

interface Ran {
  readonly chunks: readonly UIMessageChunk[];
  readonly sent: readonly SentRequest[];
}

/** Runs a chat of one message with the provider's model. */
async function run(
  name: ProviderName,
  text: string,
  { parts = [], retries = 0, fetch = globalThis.fetch, output }: {
    readonly parts?: UIMessage['parts'];
    readonly output?: RunRequestInput['output'];
    readonly retries?: number;
    readonly fetch?: typeof globalThis.fetch;
  } = {},
): Promise<Ran> {
  const sent: SentRequest[] = [];
  const model = providers[name]({ url: endpoints.url, fetch: rememberingFetch({ sent, fetch }) });
  const runtime = testRuntime({ model, tools: [weather], limits: { modelRetries: retries } });
  const messages: UIMessage[] = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }, ...parts] }];
  const chunks = await readAll(
    await runtime.run(runRequest({ chat: { id: 'c', messages }, ...(output && { output }) }), localPrincipal()),
  );
  await runtime.close();
  return { chunks, sent };
}

/** What the second request must bring back of the model's thoughts. */
const thoughts: Readonly<Record<ProviderName, RegExp | undefined>> = {
  'openai chat': undefined, // has none in its answers
  'openai responses': /"type":"reasoning","id":"rs[^"]+","encrypted_content":"[^"]{20,}","summary":\[{[^}]*Let me see/,
  'anthropic': /{"type":"thinking","thinking":"Let me see","signature":"signed-by-the-model"}/,
  'google': /{"text":"Let me see","thought":true}/,
  'openai-compatible': /"reasoning_content":"Let me see"/,
};

/** How each provider receives the schema of an answer. */
const schemas: Readonly<Record<ProviderName, RegExp>> = {
  'openai chat':
    /"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object","properties":{"city"/,
  'openai responses': /"text":{"format":{"type":"json_schema"[^]*"schema":{"type":"object","properties":{"city"/,
  'anthropic': /"output_(?:format|config)":{[^]*"schema":{"type":"object","properties":{"city"/,
  'google': /"name":"json"[^]*"parametersJsonSchema":{"type":"object","properties":{"city"[^]*"mode":"ANY"/,
  'openai-compatible': /"response_format":{"type":"json_object"}/,
};

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

describe.each(names)('a run with the provider package %s', (name) => {
  it('streams a text and counts its tokens', async () => {
    const { chunks } = await run(name, 'hello');
    expect(textOf(chunks)).toBe('Hello from the endpoint');
    expect(lastData(chunks, 'data-usage')).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(terminalChunks(chunks)).toEqual([{ type: 'finish', finishReason: 'stop' }]);
  });

  it('makes two calls at once, and sends their results and its thoughts back', async () => {
    const { chunks, sent } = await run(name, 'weather');
    expect(chunks.filter(({ type }) => type === 'tool-output-available')).toMatchObject([
      { toolCallId: 'call_berlin', output: { city: 'Berlin', sky: 'sunny' } },
      { toolCallId: 'call_paris', output: { city: 'Paris', sky: 'sunny' } },
    ]);
    expect(textOf(chunks)).toBe('Both are sunny');
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    const [, second] = sent;
    expect(sent).toHaveLength(2);
    expect(second?.body).toMatch(/Berlin.*Paris.*Berlin[^}]*sunny.*Paris[^}]*sunny/);
    const expected = thoughts[name];
    expect(chunks.some(({ type }) => type === 'reasoning-delta')).toBe(expected !== undefined);
    if (expected) expect(second?.body).toMatch(expected);
  });

  it('shows the model an image of the chat', async () => {
    const image = { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${png}` } as const;
    const { chunks, sent } = await run(name, 'picture', { parts: [image] });
    expect(textOf(chunks)).toBe('I see a dot');
    expect(sent[0]?.body).toContain(png);
  });

  it('returns an answer as data, beside tools', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const { chunks, sent } = await run(name, 'place', { output: { schema } });
    expect(lastData(chunks, 'data-output')).toEqual({ city: 'Oslo' });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body).toMatch(schemas[name]);
  });

  it.each([
    [400, { code: 'invalid_argument', retryable: false, details: { reason: 'provider_invalid_request', status: 400 } }],
    [401, { code: 'unavailable', retryable: false, details: { reason: 'provider_auth', status: 401 } }],
    [429, {
      code: 'rate_limited',
      retryable: true,
      details: { reason: 'provider_rate_limited' },
      retryAfterMs: 30_000,
    }],
    [500, { code: 'unavailable', retryable: true, details: { reason: 'provider_unavailable' } }],
  ])('ends with the error of the status %i, without the words of the endpoint or the key', async (status, error) => {
    const { chunks, sent } = await run(name, `status ${status}`);
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(chunks)).not.toMatch(/SECRET|said the endpoint/);
  });

  it('tries again when the endpoint is busy, after the pause that it asks for', async () => {
    const { chunks, sent } = await run(name, `busy ${name}`, { retries: 1 });
    expect([textOf(chunks), sent.length]).toEqual(['Free now', 2]);
  });

  it('is never completed when the answer ends in the middle', async () => {
    const { chunks } = await run(name, 'long', { fetch: cutFetch(5_000, 'ends') });
    expect(textOf(chunks)).toContain('some words');
    const error = { code: 'unavailable', retryable: true, details: { reason: 'provider_stream_cut' } };
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
  });

  it('is never completed when the connection breaks in the middle of the answer', async () => {
    const { chunks } = await run(name, 'long', { fetch: cutFetch(5_000, 'breaks') });
    expect(lastData(chunks, 'data-run')).toMatchObject({
      state: 'failed',
      error: { code: 'unavailable', retryable: true },
    });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
  });
});

describe('a run with the provider package google', () => {
  it('sends the signature of a call back', async () => {
    const functionCall = { id: 'call_berlin', name: 'weather', args: { city: 'Berlin' } };
    const parts = [{ functionCall, thoughtSignature: 'signed-by-gemini' }];
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    let requests = 0;
    const { chunks, sent } = await run('google', 'weather', {
      fetch: async (input, init) => {
        if (++requests > 1) return await fetch(input, init);
        const headers = { 'content-type': 'text/event-stream' };
        return new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers });
      },
    });
    expect(textOf(chunks)).toBe('Both are sunny');
    expect(sent[1]?.body).toMatch(/"functionCall":{[^}]*"city":"Berlin"}},"thoughtSignature":"signed-by-gemini"/);
  });
});
