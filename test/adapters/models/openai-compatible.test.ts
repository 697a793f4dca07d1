import { describe, expect, inject, it } from 'vitest';
import { openAiCompatible, type OpenAiCompatibleOptions } from '../../../adapters/models/openai-compatible.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { fault, only, run, spy, statsOf, textOf } from './endpoint.ts';

const { aimock, faults } = inject('peers');

function making(options: OpenAiCompatibleOptions): () => unknown {
  return () => openAiCompatible(options);
}

describe('openAiCompatible', () => {
  it('streams text and the usage that the endpoint counted', async () => {
    const seen = await run({ baseUrl: aimock, model: 'any' }, { prompt: 'Please say hello' });
    expect(textOf(seen)).toBe('Hello from the mock endpoint');
    expect(only(seen, 'finish')).toMatchObject([
      { finishReason: 'stop', totalUsage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 } },
    ]);
  });

  it('streams reasoning apart from text', async () => {
    const seen = await run({ baseUrl: aimock, model: 'any' }, { prompt: 'Please think first' });
    expect(only(seen, 'reasoning-delta').map(({ text }) => text).join('')).toBe('Two and two');
    expect(textOf(seen)).toBe('It is four');
  });

  it('sends the headers that it is given, and no authorization without a key', async () => {
    const { seen, fetch } = spy();
    await run({ baseUrl: `${faults}/headers/v1`, model: 'text', headers: { 'x-team': 'blue' }, fetch });
    expect(seen.map((headers) => [headers.get('x-team'), headers.has('authorization')])).toEqual([['blue', false]]);
  });

  it('sends no user agent of its own, which strict preflights do not allow, but one that it is given', async () => {
    const { seen, fetch } = spy();
    await run({ baseUrl: `${faults}/agents/v1`, model: 'text', fetch });
    await run({ baseUrl: `${faults}/agents/v1`, model: 'text', headers: { 'User-Agent': 'ship/1' }, fetch });
    expect(seen.map((headers) => headers.get('user-agent'))).toEqual([null, 'ship/1']);
  });

  it.each(['html', 'json'])('says that an answer of %s is none of a model, and does not ask again', async (model) => {
    const scope = `${model}-${crypto.randomUUID()}`;
    const seen = await run(fault(model, scope), { maxRetries: 2 });
    expect(only(seen, 'error')).toMatchObject([
      { error: { code: 'unavailable', retryable: false, details: { reason: 'provider_invalid_response' } } },
    ]);
    expect(await statsOf(scope, { requests: 1 })).toMatchObject({ requests: 1 });
  });

  it.each([
    'example.com/v1',
    'ftp://example.com/v1',
    'https://user:hunter2@example.com/v1',
    'https://example.com/v1?key=hunter2',
    'https://example.com/v1#hunter2',
    'file:///etc/hunter2',
    '',
  ])('refuses the base URL "%s" without repeating it', (baseUrl) => {
    const make = making({ baseUrl, model: 'm' });
    expect(make).toThrow(PinnaceError);
    expect(make).toThrow(expect.objectContaining({
      code: 'invalid_argument',
      details: { reason: 'invalid_base_url' },
      message: expect.stringContaining('"https://api.example.com/v1"'),
    }));
    expect(make).not.toThrow(/hunter2/);
  });

  it('refuses a header that no request can carry without repeating its value', () => {
    const make = making({ ...fault('text'), headers: { 'x-key': 'hunter2\nx: y' } });
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_header' } }));
    expect(make).not.toThrow(/hunter2/);
  });
});

/** What the AI SDK makes of each fault: a part of the stream, or an error that the stream throws. */
describe('a fault of the endpoint', () => {
  it('is a finish reason after an answer that became too long', async () => {
    expect(only(await run(fault('length')), 'finish')).toMatchObject([{ finishReason: 'length' }]);
  });
});
