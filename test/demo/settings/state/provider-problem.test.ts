import { describe, expect, it } from 'vitest';
import { providerProblem } from '../../../../demo/settings/state/provider-problem.ts';

describe('providerProblem', () => {
  it.each<[string, string, string | undefined]>([
    [
      'provider_invalid_request',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      'This chat is too long for the model',
    ],
    ['provider_invalid_request', 'prompt is too long: 210000 tokens', 'This chat is too long for the model'],
    ['provider_invalid_request', 'The model `large` does not exist', 'The server does not have this model'],
    ['provider_invalid_request', 'nobody/large is not a valid model ID', 'The server does not have this model'],
    ['provider_invalid_request', 'small does not support tools', 'This model cannot use tools'],
    ['provider_invalid_request', 'This model does not support images', undefined],
    ['provider_invalid_request', "Invalid 'tools[0].function.name'", undefined],
    [
      'provider_rate_limited',
      'You exceeded your current quota, please check your plan and billing details.',
      'The account has no quota left',
    ],
    ['provider_rate_limited', 'Rate limit reached for small', undefined],
  ])('tells causes of %s apart by what the provider said: %s', (reason, said, title) => {
    const error = { code: 'invalid_argument', message: '', retryable: false, details: { reason } };
    expect(providerProblem(error, said)?.title).toBe(title);
  });

  it('looks for a wrong model or address where nothing is said about a 404', () => {
    const details = { reason: 'provider_invalid_request', status: 404 };
    expect(providerProblem({ code: 'invalid_argument', message: '', retryable: false, details }, undefined)?.title)
      .toBe('The server does not have this model');
  });
});
