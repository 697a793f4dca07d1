/** Language models behind any endpoint that speaks OpenAI's chat completions. */

import type { LanguageModel } from '../../src/contracts/ai-types.ts';
import { checkKnownOptions, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { loadOnce } from '../../src/base/load-once.ts';

/** Where the model lives and how to reach it. */
export interface OpenAiCompatibleOptions {
  /** Everything before `/chat/completions`. */
  readonly baseUrl: string;
  /** Sent as a bearer token. A function is called for every request. */
  readonly apiKey?: string | (() => string);
  /** The name of the model at the server. */
  readonly model: string;
  /** The endpoint takes a JSON Schema for the answer (`response_format` of type `json_schema`). */
  readonly jsonSchema?: boolean;
  /**
   * Parameters that the server does not take, by their names in the request: `['stream_options']`. Without it the model learns from
   * refusals: what means the same without a parameter is sent again without it.
   */
  readonly unsupportedParameters?: readonly string[];
  /** Sent with every request, after the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends requests; the global `fetch` when absent. */
  readonly fetch?: typeof fetch;
}

/**
 * Returns the model. Neither the model nor an error made here shows the key or a header's value.
 *
 * @throws PinnaceError `invalid_argument` for a base URL or a header that no request can carry; an unusable key is the same, when
 * a request is sent.
 * @example
 * const model = openAiCompatible({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' });
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): LanguageModel {
  return createCompatibleModel(options, new Set());
}

/** Creates the model with the parameters that its server has refused so far: those that it will refuse are added. */
export function createCompatibleModel(options: OpenAiCompatibleOptions, omitted: Set<string>): LanguageModel {
  checkKnownOptions('create the model', options, {
    baseUrl: ['given', 'everything before "/chat/completions"', /^(baseURL|url)$/],
    model: ['text', 'the name of the model', /^(modelId|name)$/],
    ...optional('apiKey', 'jsonSchema', 'unsupportedParameters', 'headers', 'fetch'),
  });
  const { baseUrl, apiKey, model, jsonSchema = false, unsupportedParameters = [], headers = {}, fetch } = options;
  for (const name of unsupportedParameters) omitted.add(name);
  checkHeaders(headers);
  const baseURL = checkBaseUrl(baseUrl);
  /** Its code is loaded with the first request: a page with the built-in model needs none of it. */
  const inner = loadOnce(async (): Promise<Pick<LanguageModel, 'doGenerate' | 'doStream'>> => {
    const [{ createOpenAICompatible }, { modelFetch }, { extrasExtractor, withExtras }] = await Promise.all([
      import('@ai-sdk/openai-compatible'),
      import('./model-fetch.ts'),
      import('./answer-extras.ts'),
    ]);
    const chat = createOpenAICompatible({
      name: 'openai-compatible',
      baseURL,
      includeUsage: true, // else the endpoint reports no usage
      supportsStructuredOutputs: jsonSchema,
      headers: { ...headers },
      ...(apiKey !== undefined && { apiKey: () => readKey(apiKey) }),
      fetch: modelFetch({ fetch, headers, refused: omitted }),
      metadataExtractor: extrasExtractor,
    }).chatModel(model);
    return {
      doGenerate: (call: Call) => chat.doGenerate(call),
      doStream: async (call: Call) => withExtras(await chat.doStream(call)),
    };
  });
  // The SDK's own object can be serialised together with its headers. This one holds nothing but functions and names.
  return {
    specificationVersion: 'v4',
    provider: 'openai-compatible.chat',
    modelId: model,
    supportedUrls: {},
    doGenerate: async (call) => await (await inner()).doGenerate(withStrictness(call)),
    doStream: async (call) => await (await inner()).doStream(withStrictness(call)),
  };
}

type Call = Parameters<LanguageModel['doStream']>[0];

/** Servers that guarantee the form of an answer take only schemas that leave nothing open, and refuse the request otherwise. */
function withStrictness(call: Call): Call {
  const { responseFormat, providerOptions } = call;
  if (responseFormat?.type !== 'json' || !responseFormat.schema || isClosed(responseFormat.schema)) return call;
  const own = { strictJsonSchema: false, ...providerOptions?.['openaiCompatible'] };
  return { ...call, providerOptions: { ...providerOptions, openaiCompatible: own } };
}

/** Whether all objects of a schema have the properties that it names, and no others. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isRecord(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  const isObject = schema['type'] === 'object' || properties !== undefined;
  const names = Object.keys(asRecord(properties));
  const needed = Array.isArray(required) ? required : [];
  if (isObject && (additionalProperties !== false || !names.every((name) => needed.includes(name)))) return false;
  return Object.entries(schema).every(([key, value]) =>
    key === 'properties'
      ? Object.values(asRecord(value)).every(isClosed)
      : key === 'enum' || key === 'const' || isClosed(value)
  );
}

/** Never quotes the value: it may hold a password, or a key in its query. */
function checkBaseUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  const isUsable = url !== null && /^https?:$/.test(url.protocol) &&
    url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isUsable) return url.href.replace(/\/+$/, '');
  throw refused(
    'the base URL: it must be http or https without user name, password, query and fragment, such as "https://api.example.com/v1"',
    'invalid_base_url',
  );
}

/** `Headers` itself would quote what it refuses, and so would the error that `fetch` makes of it. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      Reflect.construct(Headers, [[[name, value]]]);
    } catch {
      throw refused(
        `header ${JSON.stringify(name)}: its name or value cannot stand in an HTTP request`,
        'invalid_header',
      );
    }
  }
}

function readKey(apiKey: string | (() => string)): string {
  const key = (typeof apiKey === 'function' ? apiKey() : apiKey).trim();
  if (/^[\x20-\x7e]*$/.test(key)) return key;
  throw refused('the API key: it must be printable ASCII on one line', 'invalid_api_key');
}

function refused(what: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use ${what}`, { details: { reason } });
}
