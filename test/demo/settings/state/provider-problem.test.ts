import { describe, expect, it } from 'vitest';
import { providerProblem } from '../../../../demo/settings/state/provider-problem.ts';

describe('providerProblem', () => {
  it('looks for a wrong model or address where nothing is said about a 404', () => {
    const details = { reason: 'provider_invalid_request', status: 404 };
    expect(providerProblem({ code: 'invalid_argument', message: '', retryable: false, details }, undefined)?.title)
      .toBe('The server does not have this model');
  });
});
