import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cut, ReportedError, toModelError, withModelRetries } from '../../../../src/runtime/model-error.ts';

interface Call {
  readonly isRetryable: boolean;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly statusCode?: number;
}

function callError(facts: Call): Error {
  return Object.assign(new Error('failed'), { name: 'AI_APICallError', ...facts });
}

/** Fails with the errors in turn, then succeeds; records when each try was made. */
function failing(errors: readonly unknown[]) {
  const triedAt: number[] = [];
  const attempt = (): Promise<string> => {
    triedAt.push(Date.now());
    const error = errors[triedAt.length - 1];
    return error === undefined ? Promise.resolve('answer') : Promise.reject(error);
  };
  return { attempt, triedAt };
}

const busy = callError({ isRetryable: true, statusCode: 503 });

describe('withModelRetries', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  async function run(errors: readonly unknown[], options: { retries?: number; random?: () => number } = {}) {
    const { attempt, triedAt } = failing(errors);
    const signal = new AbortController().signal;
    const outcome = withModelRetries(attempt, { retries: 2, signal, random: () => 0, ...options })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000); // not all timers: a runtime that another file left open may have some
    return { outcome: await outcome, triedAt };
  }

  it('waits 2 s, then 4 s, and up to a quarter less', async () => {
    expect(await run([busy, busy])).toEqual({ outcome: 'answer', triedAt: [0, 2_000, 6_000] });
    expect((await run([busy], { random: () => 1 })).triedAt[1]! % 6_000).toBe(1_500);
  });

  it('rejects with the last failure when no retry is left', async () => {
    const last = callError({ isRetryable: true, statusCode: 500 });
    expect((await run([busy, busy, last])).outcome).toBe(last);
  });

  it.each([
    ['retry-after-ms in milliseconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    ['retry-after in seconds', { 'retry-after': '3' }, 3_000],
    ['retry-after as a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:07 GMT' }, 7_000],
    ['no pause of a minute and more', { 'retry-after': '61' }, 2_000],
    ['no pause that is no number', { 'retry-after': 'soon' }, 2_000],
    ['no pause that is empty', { 'retry-after': ' ' }, 2_000],
    ['no pause that is a year', { 'retry-after': '2026-11-27' }, 2_000],
    ['no pause that is negative', { 'retry-after': '-1', 'retry-after-ms': '-5' }, 2_000],
  ])('follows %s', async (_name, responseHeaders, at) => {
    expect((await run([callError({ isRetryable: true, responseHeaders })])).triedAt).toEqual([0, at]);
  });

  it.each([
    ['the delay of Google', '{"error":{"details":[{"@type":"RetryInfo","retryDelay":"34s"}]}}', {}, 34_000],
    ['words with seconds', '{"error":{"message":"Please try again in 20.5s. Visit us"}}', {}, 20_500],
    ['words with milliseconds', '{"error":{"message":"Rate limit. Please try again in 86ms."}}', {}, 86],
    ['a time of a gateway', '{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"0000000005000"}}}}', {}, 5_000],
    ['the reset of a limit', '{}', { 'x-ratelimit-reset-requests': '6s' }, 6_000],
    ['a header before words', '{"error":{"message":"try again in 20s"}}', { 'retry-after': '3' }, 3_000],
    ['no pause of minutes in words', '{"error":{"message":"Please try again in 7m12.5s."}}', {}, 2_000],
    ['no words without a time', '{"error":{"message":"Please try again in a moment."}}', {}, 2_000],
  ])('follows %s in the error', async (_name, responseBody, responseHeaders, at) => {
    const error = Object.assign(callError({ isRetryable: true, statusCode: 429, responseHeaders }), { responseBody });
    expect((await run([error])).triedAt).toEqual([0, at]);
  });

  it.each([
    [429, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}'],
    [429, '{"error":{"type":"insufficient_balance"}}'],
    [402, '{"error":{"message":"Insufficient credits"}}'],
  ])('does not try again without credit: %i %s', async (statusCode, responseBody) => {
    const error = Object.assign(callError({ isRetryable: true, statusCode }), { responseBody });
    const { outcome, triedAt } = await run([error]);
    expect(triedAt).toEqual([0]);
    expect(toModelError(outcome)).toMatchObject({ retryable: false, details: { reason: 'provider_quota' } });
  });

  it.each([
    ['a connection that failed', new TypeError('Failed to fetch'), 2],
    ['a cut before any output', cut(), 2],
    ['an overload that the stream reports', new ReportedError(callError({ isRetryable: true, statusCode: 529 })), 2],
    ['a refused request', callError({ isRetryable: false, statusCode: 400 }), 1],
    ['a refused key that the stream reports', new ReportedError(callError({ isRetryable: false, statusCode: 401 })), 1],
    ['a bug in the code of a model', new TypeError('x is not a function'), 1],
  ])('retries %s as it should', async (_name, error, tries) => {
    expect((await run([error])).triedAt).toHaveLength(tries);
  });

  it('stops in the delay when the signal aborts', async () => {
    const abort = new AbortController();
    const { attempt, triedAt } = failing([busy]);
    const outcome = withModelRetries(attempt, { retries: 2, signal: abort.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10);
    abort.abort('stopped');
    expect([await outcome, triedAt.length, vi.getTimerCount()]).toEqual(['stopped', 1, 0]);
  });
});
