import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { nextAfter, nextTimes, passedSince, When } from '../../../src/schedules/when.ts';

/** What a calendar of a zone shows at the times behind a start. */
const rows: readonly (readonly [what: string, zone: string, cron: string, from: string, next: readonly string[]])[] = [
  ['Berlin, a time that is skipped runs after the gap', 'Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', [
    '2026-03-29T01:00Z',
    '2026-03-30T00:30Z',
  ]],
  ['Berlin, a time that is repeated runs once', 'Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', [
    '2026-10-25T00:30Z',
    '2026-10-26T01:30Z',
  ]],
  ['Berlin, a rhythm runs in both passes', 'Europe/Berlin', '*/30 * * * *', '2026-10-25T00:00Z', [
    '2026-10-25T00:30Z',
    '2026-10-25T01:00Z',
    '2026-10-25T01:30Z',
    '2026-10-25T02:00Z',
  ]],
  [
    'Berlin, of a list a time that is skipped runs after the gap',
    'Europe/Berlin',
    '0 2,14 * * *',
    '2026-03-28T14:00Z',
    [
      '2026-03-29T01:00Z',
      '2026-03-29T12:00Z',
    ],
  ],
  ['Berlin, of a list a time that is repeated runs once', 'Europe/Berlin', '0 2,14 * * *', '2026-10-24T13:00Z', [
    '2026-10-25T00:00Z',
    '2026-10-25T13:00Z',
  ]],
  ['Berlin, a range is times as well', 'Europe/Berlin', '30 1-3 * * *', '2026-10-24T12:00Z', [
    '2026-10-24T23:30Z',
    '2026-10-25T00:30Z',
    '2026-10-25T02:30Z',
  ]],
  ['New York, a time that is skipped', 'America/New_York', '30 2 * * *', '2026-03-07T12:00Z', [
    '2026-03-08T07:00Z',
    '2026-03-09T06:30Z',
  ]],
  ['New York, a time that is repeated', 'America/New_York', '30 1 * * *', '2026-10-31T12:00Z', [
    '2026-11-01T05:30Z',
    '2026-11-02T06:30Z',
  ]],
  ['Lord Howe, whose clocks move half an hour', 'Australia/Lord_Howe', '15 2 * * *', '2026-10-02T16:00Z', [
    '2026-10-03T15:30Z',
    '2026-10-04T15:15Z',
  ]],
  ['Casablanca, outside of a change', 'Africa/Casablanca', '0 8 * * *', '2026-06-01T00:00Z', [
    '2026-06-01T07:00Z',
    '2026-06-02T07:00Z',
  ]],
  ['Apia, which left out a day in 2011', 'Pacific/Apia', '0 8 * * *', '2011-12-29T00:00Z', [
    '2011-12-29T18:00Z',
    '2011-12-30T18:00Z',
  ]],
];

describe('the next times', () => {
  it.each(rows)('%s', (_, timeZone, cron, from, next) => {
    const times = nextTimes({ cron, timeZone }, { after: Date.parse(from), count: next.length });
    expect(times.map((at) => new Date(at).toISOString().replace(':00.000Z', 'Z'))).toEqual(next);
  });

  it.each([
    ['a step from a start', '5/20 * * * *', ['10:05', '10:25', '10:45', '11:05']],
    ['a step from a day', '0 12 4/10 * *', ['04T12:00', '14T12:00', '24T12:00', '04T12:00']],
    ['a nickname', ' @Daily', ['05T00:00', '06T00:00']],
    ['a nickname of hours', '@hourly', ['11:00', '12:00']],
  ])('are read of %s, as crontabs write it', (_, cron, ends) => {
    const when = v.parse(When, { cron });
    const times = nextTimes(when, { after: Date.UTC(2026, 2, 4, 10), count: ends.length });
    expect(times.map((at, i) => new Date(at).toISOString().slice(0, 16).endsWith(ends[i] ?? '?'))).not.toContain(false);
  });

  it.each(['@reboot', '@every 5m', '70/5 * * * *', '5/0 * * * *', '5/5/5 * * * *'])('are none of %j', (cron) => {
    expect(v.safeParse(When, { cron }).success).toBe(false);
  });

  it.each([
    ['2028-02-29T08:00:00Z', true],
    ['2027-02-29T08:00:00Z', false],
    ['2027-04-31T08:00:00+02:00', false],
  ])('are days of a calendar: %s', (at, isOne) => {
    expect(v.is(When, { at })).toBe(isOne);
  });

  it.each([
    ['@daily', '0 0 * * *'],
    [' @Hourly ', '0 * * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@yearly', '0 0 1 1 *'],
    ['5/20 3/6 * * 1/2', '5-59/20 3-23/6 * * 1-6/2'],
    ['*/5 0-30/10 1,2 * *', undefined],
    ['*/5  8-18/2 * * mon-fri', '*/5 8-18/2 * * mon-fri'],
    ['@reboot', undefined],
  ])('have patterns with names and steps: %s', (cron, plain) => {
    const read = v.safeParse(When, { cron });
    expect(read.success && 'cron' in read.output ? read.output.cron : undefined).toBe(plain);
  });

  it('come at intervals from their start, also before it and after a long time', () => {
    const when = { everyMs: 60_000, from: 1_000 };
    expect([-5, 0, 1_000, 60_999, 61_000].map((after) => nextAfter(when, after))).toEqual([
      1_000,
      1_000,
      61_000,
      61_000,
      121_000,
    ]);
    expect(passedSince(when, 61_000, 1_000_000_000)).toEqual({
      last: 999_961_000,
      before: 16_665,
      next: 1_000_021_000,
    });
  });

  it('of a pattern that was missed for a year end with the last one', () => {
    const first = Date.parse('2026-01-01T00:00Z');
    const now = Date.parse('2026-12-31T12:34:56Z');
    const passed = passedSince({ cron: '*/5 * * * *', timeZone: 'Asia/Kolkata' }, first, now);
    expect(passed).toMatchObject({ last: Date.parse('2026-12-31T12:30Z'), next: Date.parse('2026-12-31T12:35Z') });
    // Long after the last one: nothing is searched minute by minute.
    expect(passedSince({ cron: '* * * 1 *', timeZone: 'UTC' }, first, now)).toEqual({
      last: Date.parse('2026-01-31T23:59Z'),
      before: 201,
      next: Date.parse('2027-01-01T00:00Z'),
    });
  });
});
