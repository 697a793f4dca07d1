import { describe, expect, it } from 'vitest';
import { readRetryAfter } from '../../../src/base/with-retries.ts';

const now = Date.UTC(2026, 2, 4, 10, 0, 0);
const read = (text: string | null, date?: string): number | undefined => readRetryAfter(text, { date, now });

describe('readRetryAfter', () => {
  it.each([
    ['seconds', '12', 12_000],
    ['a part of a second', ' 1.5 ', 1_500],
    ['a date', 'Wed, 04 Mar 2026 10:00:07 GMT', 7_000],
    ['a date of RFC 850', 'Wednesday, 04-Mar-26 10:00:07 GMT', 7_000],
    ['a date of asctime, which has no zone', 'Wed Mar  4 10:00:07 2026', 7_000],
    ['a date of ISO 8601', '2026-03-04T11:00:07+01:00', 7_000],
    ['a date that is over', 'Wed, 04 Mar 2026 09:00:00 GMT', 0],
    ['more than a day', '9999999999', 86_400_000],
  ])('reads %s', (_, text, ms) => {
    expect(read(text)).toBe(ms);
  });

  it('counts from the time of the answer', () => {
    expect(read('Wed, 04 Mar 2026 08:00:30 GMT', 'Wed, 04 Mar 2026 08:00:00 GMT')).toBe(30_000);
  });

  it.each([null, '', 'soon', 'soon 5', '-1', '1e3', '2026-03-05', 'Wed, 44 Mar 2026 10:00:07 GMT'])(
    'reads nothing in %j',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );
});
