import { describe, expect, inject, it } from 'vitest';
import { openAiCompatible } from '../../../../adapters/models/openai-compatible.ts';
import { localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import {
  lastData,
  readAll,
  runRequest,
  terminalChunks,
  testRuntime,
  textOf,
  userMessage,
} from '../../../fixtures/runtime.ts';

const apiKey = 'sk-SECRET-0123456789';

/** Runs once against a server that is not ours, or that fails on purpose. */
async function runAgainst(
  baseUrl: string,
  { model = 'mock', text = 'say hello', limits = {} } = {},
): Promise<UIMessageChunk[]> {
  const runtime = testRuntime({ model: openAiCompatible({ baseUrl, apiKey, model }), limits });
  const request = runRequest({ chat: { id: 'c', messages: [userMessage(text)] } });
  return await readAll(await runtime.run(request, localPrincipal()));
}

describe("a run against a third party's model endpoint", () => {
  it('streams its text and counts its tokens', async () => {
    const chunks = await runAgainst(inject('peers').aimock);
    expect(textOf(chunks)).toBe('Hello from the mock endpoint');
    expect(lastData(chunks, 'data-usage')).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });
});

describe('a run against an endpoint that fails', () => {
  it.each([
    ['401', { code: 'unavailable', retryable: false, details: { reason: 'provider_auth', status: 401 } }],
    ['429', { code: 'rate_limited', details: { reason: 'provider_rate_limited' } }],
    ['500', { code: 'unavailable', retryable: true, details: { reason: 'provider_unavailable' } }],
    ['cut', { code: 'unavailable', retryable: true }],
    ['no-finish', { code: 'unavailable', details: { reason: 'provider_stream_cut' } }],
    ['garbage', { code: 'unavailable', details: { reason: 'provider_invalid_response' } }],
    ['html', { code: 'unavailable', retryable: false, details: { reason: 'provider_invalid_response' } }],
    ['json', { code: 'unavailable', retryable: false, details: { reason: 'provider_invalid_response' } }],
    ['error-chunk', { code: 'unavailable', details: { reason: 'provider_unavailable' } }],
    ['stall', { code: 'deadline_exceeded', retryable: true }],
    ['never', { code: 'deadline_exceeded', retryable: true }],
  ])('%s ends with its code, once, and without the key', async (model, error) => {
    // Only a server that says nothing is waited for; the others answer, however late.
    const limits = {
      modelRetries: 0,
      ...(model === 'stall' && { chunkMs: 150 }),
      ...(model === 'never' && { stepMs: 300 }),
    };
    const chunks = await runAgainst(inject('peers').faults, { model, text: model, limits });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'failed', error });
    expect(terminalChunks(chunks)).toMatchObject([{ type: 'error' }]);
    expect(JSON.stringify(chunks)).not.toContain('SECRET');
  });
});
