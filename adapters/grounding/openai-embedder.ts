/** Embeddings from any endpoint that speaks OpenAI's `POST /embeddings`. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { readRetryAfter } from '../../src/base/with-retries.ts';
import type { Embedder } from '../../src/contracts/grounding-source.ts';

export type { Embedder } from '../../src/contracts/grounding-source.ts';

/** Where the model is, and how it is called. */
export interface OpenAiEmbedderOptions {
  /** Everything before `/embeddings`. */
  readonly baseUrl: string;
  /** Sent as a bearer token. A function is called for every request. */
  readonly apiKey?: string | (() => string);
  /** The name of the embedding model. */
  readonly model: string;
  /** The length of the vectors, for models that leave the choice. */
  readonly dimensions?: number;
  /** Texts in one request; 64 when absent. */
  readonly perRequest?: number;
  /** How often a request is repeated that was limited (429), failed at the endpoint (5xx) or did not arrive; 2 when absent. */
  readonly maxRetries?: number;
  /** Waits before a repeated request, in milliseconds; stops with the signal. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Sends requests; the global `fetch` when absent. */
  readonly fetch?: typeof fetch;
}

/**
 * Creates an embedder of the endpoint. A vector source caches its vectors by text and embeds no text twice.
 *
 * @throws PinnaceError `unavailable` when the endpoint does not answer with vectors, `cancelled` with the signal. No error quotes a
 * text or the key.
 * @example
 * const embedder = openAiEmbedder({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'nomic-embed-text' });
 * const notes = vectorSource({ id: 'notes', storage, embedder });
 */
export function openAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  checkNames(
    'create the embedder',
    options,
    optional('model', 'dimensions', 'perRequest', 'apiKey', 'baseUrl', 'fetch', 'maxRetries', 'wait'),
  );
  const { model, dimensions, perRequest = 64 } = options;
  return {
    id: `openai-compatible/${model}${dimensions === undefined ? '' : `/${dimensions}`}`,
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (let from = 0; from < texts.length; from += perRequest) {
        vectors.push(...await embedSome(texts.slice(from, from + perRequest), options, signal));
      }
      return vectors;
    },
  };
}

const longestWaitMs = 30_000;

async function embedSome(
  texts: readonly string[],
  options: OpenAiEmbedderOptions,
  signal: AbortSignal,
): Promise<number[][]> {
  const { maxRetries = 2, wait = waitMs } = options;
  for (let attempt = 0;; attempt++) {
    if (signal.aborted) throw new PinnaceError('cancelled', 'The embedding was stopped');
    const response = await send(texts, options, signal);
    if (response instanceof Response && response.ok) {
      return read(await response.json().catch(() => undefined), texts.length);
    }
    const status = response instanceof Response ? response.status : undefined;
    await (response instanceof Response ? response.body?.cancel() : undefined);
    const mayRepeat = status === undefined || status === 429 || status >= 500;
    if (!mayRepeat || attempt >= maxRetries) {
      throw failed(response instanceof Response ? `it answered ${status}` : 'it did not answer');
    }
    await wait(Math.min(longestWaitMs, retryAfterMs(response) ?? 500 * 2 ** attempt), signal);
  }
}

async function send(
  texts: readonly string[],
  { baseUrl, apiKey, model, dimensions, fetch: request = fetch }: OpenAiEmbedderOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const key = typeof apiKey === 'function' ? apiKey() : apiKey;
  try {
    return await request(`${baseUrl.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({
        model,
        input: texts,
        encoding_format: 'float',
        ...(dimensions !== undefined && { dimensions }),
      }),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw new PinnaceError('cancelled', 'The embedding was stopped', { cause: error });
    return error;
  }
}

function retryAfterMs(response: unknown): number | undefined {
  if (!(response instanceof Response)) return undefined;
  const { headers } = response;
  return readRetryAfter(headers.get('retry-after'), { date: headers.get('date'), now: Date.now() });
}

/** The vectors in the order of the texts, whatever the order in which they came. */
function read(body: unknown, count: number): number[][] {
  const data = isRecord(body) && Array.isArray(body['data']) ? body['data'] as unknown[] : [];
  const vectors = Array.from({ length: count }, (): number[] | undefined => undefined);
  for (const [at, entry] of data.entries()) {
    if (!isRecord(entry) || !Array.isArray(entry['embedding'])) continue;
    const place = typeof entry['index'] === 'number' ? entry['index'] : at;
    if (place < count) vectors[place] = entry['embedding'] as number[]; // the vector source checks the numbers
  }
  if (!vectors.every((vector) => vector !== undefined)) throw failed('it gave no vector for one of the texts');
  return vectors;
}

function failed(why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot embed: the endpoint is not usable now, ${why}`, {
    details: { reason: 'embedder_failed' },
  });
}

function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new PinnaceError('cancelled', 'The embedding was stopped'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
