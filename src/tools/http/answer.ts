/** The part of an HTTP answer that a model receives: truncated, and marked as untrusted. */

import { type ErrorCode, PinnaceError } from '../../base/errors.ts';
import { readText } from '../../base/read-text.ts';
import type { HttpToolConfig } from './config.ts';
import type { ToolContext } from '../tool.ts';

/** The output of an HTTP tool. `data` is what the server said: facts to judge, never instructions. */
export interface HttpToolOutput {
  readonly source: string;
  readonly untrusted: true;
  readonly status: number;
  readonly data: unknown;
  /** Whether `data` is the beginning of a longer text. */
  readonly truncated?: true;
}

/**
 * Returns the output for an answer. Secrets are redacted before it is truncated.
 *
 * @throws PinnaceError for a status of 400 and more, without what the server said, and for JSON that is none.
 */
export async function shapeAnswer(
  answer: Response,
  { origin, response }: HttpToolConfig,
  { redact }: Pick<ToolContext, 'redact'>,
): Promise<HttpToolOutput> {
  if (answer.status >= 400) {
    await answer.body?.cancel();
    throw failedAnswer(answer);
  }
  const text = await readText(answer.body);
  const frame = { source: origin, untrusted: true, status: answer.status } as const;
  const { maxLength } = response;
  if (response.as === 'text' || text === '') return { ...frame, ...cut(text, { maxLength, redact }) };
  const selected = response.fields === undefined ? parseJson(text) : pick(parseJson(text), response.fields);
  const shown = JSON.stringify(selected);
  return shown.length > maxLength ? { ...frame, ...cut(shown, { maxLength, redact }) } : { ...frame, data: selected };
}

type Cut = Pick<ToolContext, 'redact'> & { readonly maxLength: number };

function cut(text: string, { maxLength, redact }: Cut): Pick<HttpToolOutput, 'data' | 'truncated'> {
  if (text.length <= maxLength) return { data: text };
  return { data: redact(text).slice(0, maxLength).toWellFormed(), truncated: true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    throw new PinnaceError('unavailable', 'Cannot use the answer: it is not JSON', {
      retryable: false,
      details: { reason: 'answer_not_json' },
    });
  }
}

/** Selects the values at the paths; in a list, those of each item. */
function pick(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, paths));
  if (typeof value !== 'object' || value === null) return null;
  const below = Map.groupBy(paths, (path) => path.split('.', 1)[0] ?? '');
  const selected = [...below].filter(([key]) => Object.hasOwn(value, key)).map(([key, all]) => {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[key]; // it has the key
    return [key, all.includes(key) ? inner : pick(inner, all.map((path) => path.slice(key.length + 1)))];
  });
  return Object.fromEntries(selected);
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  408: 'unavailable',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  429: 'rate_limited',
};

function failedAnswer({ status, headers }: Response): PinnaceError {
  const code = codes[status] ?? (status >= 500 ? 'unavailable' : 'invalid_argument');
  const retryAfterMs = readRetryAfter(headers);
  return new PinnaceError(code, `The server answered with status ${status}`, {
    details: { reason: 'http_status', status },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const longestWaitMs = 86_400_000;

/** Seconds or a date (RFC 9110, 10.2.3); at most a day. A date counts from the server's own clock, where it says the time. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1000, longestWaitMs);
  const from = Date.parse(headers.get('date') ?? '');
  const waitMs = Date.parse(text) - (Number.isNaN(from) ? Date.now() : from);
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), longestWaitMs);
}
