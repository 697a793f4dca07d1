import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { createRuntime, type CreateRuntimeOptions } from '../../../../src/index.ts';
import { periodAt } from '../../../../src/runtime/budget-terms.ts';

const at = (time: string): number => Date.parse(time);
const iso = (time: number): string => new Date(time).toISOString();

describe('a period', () => {
  it.each<[every: 'hour' | 'day' | 'week' | 'month', zone: string, now: string, label: string, end: string]>([
    ['day', 'UTC', '2026-11-27T23:59:59.999Z', '2026-11-27', '2026-11-28T00:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-11-27T22:59:59Z', '2026-11-27', '2026-11-27T23:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29', '2026-03-29T22:00:00.000Z'], // 23 hours
    ['day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25', '2026-10-25T23:00:00.000Z'], // 25 hours
    ['day', 'Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01', '2026-01-01T18:15:00.000Z'],
    ['day', 'America/Santiago', '2026-09-06T02:00:00Z', '2026-09-05', '2026-09-06T04:00:00.000Z'], // has no midnight
    ['day', 'Pacific/Apia', '2011-12-30T08:00:00Z', '2011-12-29', '2011-12-30T10:00:00.000Z'], // has no 30th
    ['week', 'UTC', '2026-11-29T12:00:00Z', 'w2026-11-23', '2026-11-30T00:00:00.000Z'],
    ['week', 'UTC', '2026-11-30T00:00:00Z', 'w2026-11-30', '2026-12-07T00:00:00.000Z'],
    ['month', 'America/New_York', '2026-12-01T04:59:59Z', '2026-11', '2026-12-01T05:00:00.000Z'],
    ['month', 'UTC', '2028-02-01T00:00:00Z', '2028-02', '2028-03-01T00:00:00.000Z'],
    ['hour', 'Asia/Kolkata', '2026-11-27T10:59:59Z', '2026-11-27T10', '2026-11-27T11:00:00.000Z'],
  ])('of a %s in %s at %s is %s until %s', (every, timeZone, now, label, end) => {
    const period = periodAt(at(now), { every, timeZone });
    expect([period.label, iso(period.endsAt)]).toEqual([label, end]);
    expect(periodAt(period.endsAt, { every, timeZone }).label).not.toBe(label);
    expect(periodAt(period.endsAt - 1, { every, timeZone }).label).toBe(label);
  });
});

describe('the budgets of a composition', () => {
  const compose = (budgets: unknown): unknown =>
    createRuntime({
      catalog: staticCatalog({ agents: [], providers: [] }),
      models: {
        model: () => {
          throw new Error('not used');
        },
      },
      storage: memoryStorage(),
      budgets: budgets as CreateRuntimeOptions['budgets'] & {}, // as a caller without types passes them
    });
  const day = { id: 'day', of: 'tenant', every: 'day', tokens: 5 };

  it.each<[name: string, budgets: unknown, text: string]>([
    ['no array', day, 'must be an array'],
    ['two of one id', [day, { ...day, runs: 1 }], 'two budgets "day"'],
    ['no limit', [{ ...day, tokens: undefined }], 'must limit'],
    ['a zone that is none', [{ ...day, timeZone: 'Mars/Olympus' }], 'Mars/Olympus'],
    ['bytes of an agent', [{ ...day, of: 'agent', bytes: 5 }], 'bytes'],
    ['a negative limit', [{ ...day, tokens: -1 }], 'tokens'],
    ['a limit that is no number', [{ ...day, runs: NaN }], 'runs'],
    ['a cost without a currency', [{ ...day, cost: { amount: 5 } }], 'currency'],
    ['an unknown field', [{ ...day, token: 5 }], 'token'],
    ['an id with spaces', [{ ...day, id: 'a day' }], 'id'],
  ])('are refused: %s', (_, budgets, text) => {
    expect(() => compose(budgets)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(text) }),
    );
  });
});
