import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../demo/chat/state/problem.ts';
import { errorCodes } from '../../../../src/base/errors.ts';

describe('describeProblem', () => {
  it.each(errorCodes.filter((code) => code !== 'internal'))('has words of its own for %s', (code) => {
    const { title, remedies } = describeProblem({ code, message: '', retryable: false });
    expect(title).not.toBe('Something went wrong');
    expect(remedies.length).toBeGreaterThan(0);
  });

  it('opens the settings for a key that was refused', () => {
    const problem = describeProblem({
      code: 'unavailable',
      message: '',
      retryable: false,
      details: { reason: 'provider_auth' },
    });
    expect(problem).toMatchObject({ title: 'The model server refused the key', remedies: ['settings', 'retry'] });
  });

  it.each(['internal', 'from_the_future', 'constructor', '__proto__'])('takes the blame for %s', (code) => {
    expect(describeProblem({ code, message: '', retryable: false, details: { reason: 'toString' } })).toMatchObject({
      title: 'Something went wrong',
      remedies: ['retry', 'reload'],
    });
  });

  it.each([[100, 'a second'], [2500, '3 seconds'], [600_000, '10 minutes']])(
    'says how long to wait: %i ms',
    (retryAfterMs, words) => {
      expect(describeProblem({ code: 'rate_limited', message: '', retryable: true, retryAfterMs }).advice).toContain(
        words,
      );
    },
  );
});
