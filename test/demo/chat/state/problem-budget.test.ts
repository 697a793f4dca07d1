import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../demo/chat/state/problem.ts';

const error = (details: Record<string, unknown>) =>
  describeProblem({ code: 'budget_exceeded', message: 'm', retryable: false, retryAfterMs: 43_200_000, details });

describe('the problem of a budget of a period', () => {
  it.each([
    ['subject', 'day', 'Your day’s budget is used'],
    ['tenant', 'month', 'Your team’s budget for this month is used'],
    ['agent', 'hour', 'This agent’s budget for this hour is used'],
  ])('says whose it is and when it starts again: of a %s', (of, every, title) => {
    const problem = error({ reason: 'period_tokens', budget: 'b', of, every, resetsAt: '2026-11-28T12:00:00.000Z' });
    expect(problem.title).toBe(title);
    expect(problem.advice).toMatch(/^It starts again at .*2026.*\./);
    expect(problem.advice).not.toContain('minutes');
  });

  it('says so without facts too, and leaves other limits as they are', () => {
    expect(error({ reason: 'period_runs' })).toMatchObject({
      title: 'Your period’s budget is used',
      advice: expect.stringContaining('with the next one'),
    });
    expect(error({ reason: 'steps' }).title).toBe('The run reached its limit');
  });
});
