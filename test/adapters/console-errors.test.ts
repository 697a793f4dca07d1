import { describe, expect, it, vi } from 'vitest';
import { consoleErrors } from '../../adapters/console-errors.ts';
import { PinnaceError } from '../../src/base/errors.ts';

function printed(cause: unknown, context: Parameters<ReturnType<typeof consoleErrors>>[1]): string {
  let text = '';
  consoleErrors({ write: (written) => void (text += written) })(cause, context);
  return text;
}

function apiError(message: string, requestBodyValues: object): Error {
  const responseBody = JSON.stringify({ error: { message } });
  return Object.assign(new Error('Bad request'), { name: 'AI_APICallError', responseBody, requestBodyValues });
}

const model = { kind: 'model', id: 'gpt' } as const;

describe('consoleErrors', () => {
  it('prints the place, the stack and the causes below', () => {
    const cause = new TypeError('a is undefined', { cause: new Error('below') });
    const text = printed(cause, { kind: 'tool', id: 'add', step: 2, runId: 'run_1', traceId: '4bf92f3500' });
    const [head, first] = text.split('\n');
    expect(head).toBe('tool "add" failed (step 2, run run_1, trace 4bf92f35)');
    expect(first).toBe('  TypeError: a is undefined');
    expect(text).toContain('console-errors.test');
    expect(text).toContain('Caused by: Error: below');
  });

  it.each(['full', 'brief', 'line'] as const)(
    'lets no text steer the terminal or add a line in detail %s',
    (detail) => {
      const escape = '\x1b]0;title\x07\x1b[2J\x9b31m\r\u202e';
      const thrown = [
        new Error(`a\n${escape}`, { cause: escape }),
        new PinnaceError('unavailable', `a\n${escape}`),
        Object.assign(new Error('a'), { name: `a\n${escape}` }),
      ];
      for (const cause of thrown) {
        let text = '';
        const context = { kind: 'http', id: escape, runId: `run\n${escape}` } as const;
        consoleErrors({ detail, write: (written) => void (text += written) })(cause, context);
        expect(text).not.toMatch(/[^\P{C}\n]/u);
        if (detail === 'line') expect(text).not.toContain('\n');
      }
    },
  );

  it('prints a thrown text', () => {
    expect(printed('no', { kind: 'sink', id: '0' })).toBe('sink "0" failed\n  no');
  });

  it('prints what the provider said', () => {
    const text = printed(apiError('The model `gpt` does not exist', { model: 'gpt' }), { ...model, attempt: 1 });
    expect(text.split('\n').slice(0, 2)).toEqual([
      'model "gpt" failed (attempt 1)',
      '  The provider said: The model `gpt` does not exist',
    ]);
  });

  it.each([
    ['Incorrect API key provided: sk-proj-1234567890abcdef', 'Incorrect API key provided: [key]'],
    ['Incorrect API key provided: sk-ab***********cdef', 'Incorrect API key provided: [key]'],
    ['Refused: Bearer abcdefghijkl', 'Refused: Bearer [key]'],
    ['Refused: Basic dXNlcjpwYXNzd29yZA==', 'Refused: Basic [key]'],
    ['No access for sk-ant-api03-a1b2c3d4e5f6', 'No access for [key]'],
    ['Bad key gsk_1234567890abcdefgh, xai-1234567890abcdefgh', 'Bad key [key], [key]'],
    ['Bad token hf_abcdefghijklmnopqrst', 'Bad token [key]'],
    ['API key AIzaSyA1234567890-abcdefghijk not valid', 'API key [key] not valid'],
    ['GET https://host/v1/models?key=abc123&alt=sse failed', 'GET https://host/v1/models?key=[key]&alt=sse failed'],
    ['The id AKIAIOSFODNN7EXAMPLE has no rights', 'The id [key] has no rights'],
    ['Token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl expired', 'Token [key] expired'],
    ['Key 0123456789abcdef0123456789ABCDEF is disabled', 'Key [key] is disabled'],
    ['Use api.example.com/keys, see api-reference-guide', 'Use api.example.com/keys, see api-reference-guide'],
    ['Request req_0123456789abcdef0123456789abcdef failed', 'Request req_0123456789abcdef0123456789abcdef failed'],
    ['Too long: "What is the secret of the ship?"', 'Too long: "[…]"'],
    ['Too long: "What is the secre..."', 'Too long: "[…]..."'],
  ])('repeats no key and nothing of the request: %s', (said, shown) => {
    const request = { model: 'gpt', messages: [{ role: 'user', content: 'What is the secret of the ship?' }] };
    expect(printed(apiError(said, request), model)).toContain(`The provider said: ${shown}\n`);
  });

  it.each([
    ['a list', '[{"error":{"code":400,"message":"Say it again"}}]'],
    ['details', '{"detail":[{"loc":["body"],"msg":"Say it again","type":"value_error"}]}'],
    ['a message at the top', '{"object":"error","message":"Say it again","code":400}'],
    ['several errors', '{"success":false,"errors":[{"code":5006,"message":"Say it again"}]}'],
    [
      'the error of a server behind it',
      '{"error":{"message":"Provider returned error","metadata":{"raw":"{\\"error\\":{\\"message\\":\\"Say it again\\"}}"}}}',
    ],
    ['fields of its own', '{"error_code":336100,"error_msg":"Say it again"}'],
    ['words without JSON', 'Say it again'],
  ])('prints what a provider said in %s', (_, responseBody) => {
    const error = Object.assign(new Error('Bad request'), { name: 'AI_APICallError', responseBody });
    expect(printed(error, model)).toContain('The provider said: Say it again\n');
  });

  it('shows at most 500 characters of the provider', () => {
    const [, said] = printed(apiError('long '.repeat(1000), {}), model).split('\n');
    expect(said?.length).toBeLessThan(540);
  });

  it('prints the same cause outside a run once in 30 s, and then how often it was there', () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-28T00:00:00Z') });
    const texts: string[] = [];
    const onError = consoleErrors({ write: (text) => texts.push(text.split('\n')[0]!), detail: 'brief' });
    const away = () => new Error('connect ECONNREFUSED 127.0.0.1:5432');
    for (const id of ['list', 'get', 'commit']) onError(away(), { kind: 'storage', id });
    onError(new Error('other'), { kind: 'storage', id: 'get' });
    for (const runId of ['run_1', 'run_2']) onError(away(), { kind: 'storage', id: 'get', runId });
    vi.advanceTimersByTime(30_000);
    onError(away(), { kind: 'storage', id: 'list' });
    onError(away(), { kind: 'storage', id: 'list' });
    vi.useRealTimers();
    expect(texts).toEqual([
      'storage "list" failed',
      'storage "get" failed',
      'storage "get" failed (run run_1)',
      'storage "get" failed (run run_2)',
      'storage "list" failed (and 2 times more since 2026-11-28T00:00:00.000Z)',
    ]);
  });
});
