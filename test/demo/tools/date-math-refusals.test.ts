import { afterEach, describe, expect, it, vi } from 'vitest';
import { dateMathTool } from '../../../demo/tools/date-math.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const friday = Date.UTC(2026, 10, 20, 22, 58, 31, 500);
const tool = dateMathTool({ now: () => friday });
const zone = { timeZone: 'UTC' };

describe('date_math, without an operation', () => {
  it('returns the difference of two dates, else the weekday', async () => {
    expect(await outcomeOf(tool, { date: '2026-01-01', until: '2026-01-08' })).toMatchObject({ totalDays: 7 });
    expect(await outcomeOf(tool, { date: '2026-01-01' })).toMatchObject({ weekday: 'Thursday' });
    expect(await outcomeOf(tool, zone)).toMatchObject({ date: '2026-11-20', weekday: 'Friday' });
  });

  it('does not guess whether an amount is added or subtracted', async () => {
    expect(await outcomeOf(tool, { date: '2026-01-01', days: 7 })).toMatchObject({
      code: 'invalid_argument',
      message: 'Cannot calculate with dates: the operation is missing; say "add" or "subtract"',
    });
  });
});

describe('date_math, a bad input', () => {
  it.each([
    '2026-02-30',
    '2023-02-29',
    '2026-13-01',
    '2026-11-20T25:00',
    '20.11.2026',
    '11/20/2026',
    'next Friday',
    '__proto__',
    '999999-01-01',
    '2026-11-20T10:00[Mars/Olympus]',
  ])('is the date %j', async (date) => {
    const error = await outcomeOf(tool, { operation: 'weekday', date });
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_date' } });
    expect(error['message']).toContain('Cannot read "date"');
    expect(error['message']).not.toContain(date);
  });

  it('is named by its field', async () => {
    const input = { operation: 'difference', date: 'today', until: 'soon' };
    expect(await outcomeOf(tool, input)).toMatchObject({ message: expect.stringContaining('Cannot read "until"') });
  });

  it('is a zone that does not exist', async () => {
    const input = { operation: 'weekday', date: 'today', timeZone: 'Europe/Berln' };
    expect(await outcomeOf(tool, input)).toMatchObject({ details: { suggestions: ['Europe/Berlin'] } });
  });

  it('leads outside the calendar', async () => {
    const input = { operation: 'add', date: 'today', years: 1_000_000 };
    expect(await outcomeOf(tool, input)).toMatchObject({
      code: 'invalid_argument',
      message: 'Cannot calculate with dates: the result is outside the years that can be calculated with',
    });
  });

  it.each([{ operation: 'explode' }, { operation: 'add', days: 1.5 }, { operation: 'add', days: 1e9 }, {
    operation: 'add',
    fortnights: 1,
  }])('is %j', async (input) => {
    expect(await outcomeOf(tool, input)).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_data' },
    });
  });
});

describe('date_math, without Temporal', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('says that the browser lacks it', async () => {
    vi.stubGlobal('Temporal', undefined);
    delete (globalThis as { Temporal?: unknown }).Temporal; // as in an older browser
    expect(await outcomeOf(tool, { operation: 'weekday' })).toMatchObject({ code: 'unavailable', retryable: false });
  });
});
