import { describe, expect, it } from 'vitest';
import { dateMathTool } from '../../../demo/tools/date-math.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const friday = Date.UTC(2026, 10, 20, 22, 58, 31, 500);
const tool = dateMathTool({ now: () => friday });
const zone = { timeZone: 'UTC' };

describe('a day of the year', () => {
  it.each([
    ['24 December', '2026-12-24'],
    ['December 24', '2026-12-24'],
    ['Dec 24th', '2026-12-24'],
    ['3rd of March', '2027-03-03'],
    ['20 November', '2026-11-20'],
    ['19 November', '2027-11-19'],
    ['Christmas', '2026-12-25'],
    ["New Year's Eve", '2026-12-31'],
    ['29 February', '2027-02-28'],
  ])('%s is the next one, today included', async (date, result) => {
    expect(await outcomeOf(tool, { operation: 'weekday', date })).toMatchObject({ date: result });
  });

  it.each(['31 June', '30 February', '0 May', '12 Smarch', 'may'])('%s is no date', async (date) => {
    expect(await outcomeOf(tool, { operation: 'weekday', date })).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('date_math, add and subtract', () => {
  it.each([
    ['2026-11-20', { days: 90 }, '2027-02-18'],
    ['2026-11-20', { weeks: 2 }, '2026-12-04'],
    ['2026-11-20', { days: -20 }, '2026-10-31'],
    ['2026-11-20', { years: 1, months: 1, weeks: 1, days: 1 }, '2027-12-28'],
    ['2026-11-20', { months: 1, days: -1 }, '2026-12-19'],
    ['2024-02-28', { days: 1 }, '2024-02-29'],
    ['2023-02-28', { days: 1 }, '2023-03-01'],
    ['2024-02-29', { years: 1 }, '2025-02-28'],
    ['2024-02-29', { years: 4 }, '2028-02-29'],
    ['1900-02-28', { days: 1 }, '1900-03-01'],
    ['2000-02-28', { days: 1 }, '2000-02-29'],
    ['2026-01-31', { months: 1 }, '2026-02-28'],
    ['2026-01-31', { months: 3 }, '2026-04-30'],
    ['2026-12-31', { months: 2 }, '2027-02-28'],
    ['2026-12-31', { days: 1 }, '2027-01-01'],
    ['2026-11-20', { hours: 30 }, '2026-11-21T06:00:00'],
    ['2026-11-20T15:30', { minutes: 45 }, '2026-11-20T16:15:00'],
    ['2026-11-20T15:30:10', { days: 1 }, '2026-11-21T15:30:10'],
    ['2026-11-20T15:30Z', { hours: 12 }, '2026-11-21T03:30:00+00:00[UTC]'],
    ['2026-11-20T15:30+02:00', { hours: 1 }, '2026-11-20T14:30:00+00:00[UTC]'],
    ['2026-11-20T15:30[Asia/Tokyo]', { hours: 12 }, '2026-11-21T03:30:00+09:00[Asia/Tokyo]'],
    ['0001-01-01', { days: -1 }, '0000-12-31'],
  ])('finds %s plus %j to be %s', async (date, amount, result) => {
    expect(await outcomeOf(tool, { operation: 'add', date, ...amount })).toMatchObject({ result });
  });

  it.each([
    ['2024-03-31', { months: 1 }, '2024-02-29'],
    ['2024-03-01', { days: 1 }, '2024-02-29'],
    ['2026-01-01', { weeks: 1 }, '2025-12-25'],
    ['2026-01-01', { days: -1 }, '2026-01-02'],
  ])('finds %s minus %j to be %s', async (date, amount, result) => {
    expect(await outcomeOf(tool, { operation: 'subtract', date, ...amount })).toMatchObject({ result });
  });

  it('returns the weekday of the result', async () => {
    expect(await outcomeOf(tool, { operation: 'add', date: '2026-11-20', days: 90 })).toEqual({
      date: '2026-11-20',
      result: '2027-02-18',
      weekday: 'Thursday',
      text: 'Thursday, 2027-02-18',
    });
  });

  it.each([
    ['today', '2026-11-20'],
    ['Tomorrow', '2026-11-21'],
    ['yesterday', '2026-11-19'],
    [' now ', '2026-11-20T22:58:31+00:00[UTC]'],
    [undefined, '2026-11-20'],
  ])('knows %j', async (date, iso) => {
    const input = { operation: 'add', ...(date !== undefined && { date }), days: 0, ...zone };
    expect(await outcomeOf(tool, input)).toMatchObject({ date: iso, result: iso });
  });

  it('takes today from the zone', async () => {
    const input = { operation: 'add', date: 'today', days: 0, timeZone: 'Asia/Tokyo' };
    expect(await outcomeOf(tool, input)).toMatchObject({ date: '2026-11-21' });
  });

  it('keeps the time of day over a change of the clocks when days are added, and the hours when hours are', async () => {
    const input = { operation: 'add', date: '2026-03-28T12:00', timeZone: 'Europe/Berlin' };
    expect(await outcomeOf(tool, { ...input, days: 1 })).toMatchObject({
      result: '2026-03-29T12:00:00+02:00[Europe/Berlin]',
    });
    expect(await outcomeOf(tool, { ...input, hours: 24 })).toMatchObject({
      result: '2026-03-29T13:00:00+02:00[Europe/Berlin]',
    });
  });

  it('counts the hours of a day without a zone as if clocks never changed', async () => {
    const input = { operation: 'add', date: '2026-03-29', hours: 3 };
    expect(await outcomeOf(tool, input)).toMatchObject({ result: '2026-03-29T03:00:00' });
    const zoned = { ...input, timeZone: 'Berlin' };
    expect(await outcomeOf(tool, zoned)).toMatchObject({ result: '2026-03-29T04:00:00+02:00[Europe/Berlin]' });
  });

  it('asks for an amount', async () => {
    expect(await outcomeOf(tool, { operation: 'add' })).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('give one of "years", "months"'),
    });
  });
});

describe('date_math, the difference', () => {
  it.each([
    ['2026-01-01', '2026-12-24', { years: 0, months: 11, days: 23, totalDays: 357 }],
    ['2024-02-29', '2025-02-28', { years: 0, months: 11, days: 30, totalDays: 365 }],
    ['2024-02-28', '2024-03-01', { months: 0, days: 2, totalDays: 2 }],
    ['2023-02-28', '2023-03-01', { months: 0, days: 1, totalDays: 1 }],
    ['2026-01-31', '2026-02-28', { months: 0, days: 28, totalDays: 28 }],
    ['2026-12-24', '2026-11-20', { years: 0, months: -1, days: -4, totalDays: -34 }],
    ['1969-07-20', '2026-07-20', { years: 57, months: 0, days: 0, totalDays: 20_819 }],
    ['2026-11-20', '2026-11-20', { years: 0, months: 0, days: 0, totalDays: 0 }],
    ['2026-01-01T10:00', '2026-01-02T12:30', { days: 1, hours: 2, minutes: 30, totalDays: 1.104167 }],
    ['2026-01-01T00:00Z', '2026-01-01T00:00-05:00', { days: 0, hours: 5, minutes: 0 }],
  ])('from %s until %s is %j', async (date, until, span) => {
    expect(await outcomeOf(tool, { operation: 'difference', date, until })).toMatchObject(span);
  });

  it('reads as a sentence', async () => {
    for (
      const [until, text] of [
        ['2026-12-24', '2026-12-24 is 357 days (11 months, 23 days) after 2026-01-01'],
        ['2026-01-02', '2026-01-02 is 1 day after 2026-01-01'],
        ['2025-12-31', '2025-12-31 is 1 day before 2026-01-01'],
        ['2026-01-01', '2026-01-01 is the same as 2026-01-01'],
      ]
    ) {
      const input = { operation: 'difference', date: '2026-01-01', until };
      expect(await outcomeOf(tool, input)).toMatchObject({ text });
    }
  });

  it('counts until today where no second date is given', async () => {
    const outcome = await outcomeOf(tool, { operation: 'difference', date: '2026-11-10', ...zone });
    expect(outcome).toMatchObject({ until: '2026-11-20', totalDays: 10 });
  });

  it('counts a day of 23 hours as a day', async () => {
    const input = { operation: 'difference', date: '2026-03-28T12:00', until: '2026-03-29T12:00' };
    const outcome = await outcomeOf(tool, { ...input, timeZone: 'Europe/Berlin' });
    expect(outcome).toMatchObject({ days: 1, hours: 0, totalDays: 1 });
  });
});

describe('date_math, working days', () => {
  it.each([
    ['2026-11-16', '2026-11-20', 5],
    ['2026-11-16', '2026-11-22', 5],
    ['2026-11-20', '2026-11-23', 2],
    ['2026-11-21', '2026-11-22', 0],
    ['2026-11-20', '2026-11-20', 1],
    ['2026-11-20', '2026-12-24', 25],
    ['2026-01-01', '2026-12-31', 261],
    ['2026-11-23', '2026-11-20', -2],
  ])('from %s until %s are %d', async (date, until, workingDays) => {
    expect(await outcomeOf(tool, { operation: 'working_days', date, until })).toMatchObject({ workingDays });
  });

  it.each([
    ['2026-11-20', 1, '2026-11-23'],
    ['2026-11-20', 10, '2026-12-04'],
    ['2026-11-20', 0, '2026-11-20'],
    ['2026-11-20', -1, '2026-11-19'],
    ['2026-11-23', -1, '2026-11-20'],
    ['2026-11-21', 1, '2026-11-23'],
    ['2026-11-22', -1, '2026-11-20'],
    ['2026-11-22', 5, '2026-11-27'],
    ['2026-11-18', 3, '2026-11-23'],
    ['2026-11-18', 261, '2027-11-18'],
  ])('from %s %d on is %s', async (date, days, result) => {
    expect(await outcomeOf(tool, { operation: 'working_days', date, days })).toMatchObject({ result });
  });

  it('on and counted agree', async () => {
    for (const days of [1, 2, 3, 4, 5, 6, 13, 260]) {
      for (const date of ['2026-11-16', '2026-11-18', '2026-11-20']) {
        const { result: until } = await outcomeOf(tool, { operation: 'working_days', date, days });
        const counted = await outcomeOf(tool, { operation: 'working_days', date, until });
        expect(counted).toMatchObject({ workingDays: days + 1 });
      }
    }
  });
});
