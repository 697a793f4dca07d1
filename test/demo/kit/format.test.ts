import { describe, expect, it } from 'vitest';
import { dayOf, formatCount, formatDuration, summarize } from '../../../demo/kit/format.ts';

describe('formatDuration', () => {
  it.each([[0, '0 ms'], [-5, '0 ms'], [999, '999 ms'], [4210, '4.2 s'], [59_949, '59.9 s'], [59_950, '1 min 0 s'], [
    185_400,
    '3 min 5 s',
  ]])(
    'gives %i ms in words',
    (ms, words) => expect(formatDuration(ms)).toBe(words),
  );
});

describe('formatCount', () => {
  it('gives one and many', () => {
    expect([0, 1, 1234].map((count) => formatCount(count, 'step'))).toEqual(['0 steps', '1 step', '1,234 steps']);
  });
});

describe('dayOf', () => {
  it('goes by the calendar, not by hours', () => {
    const now = new Date(2026, 10, 20, 0, 30).getTime();
    const hour = 3_600_000;
    expect([now, now - hour, now - 30 * hour, now - 8 * 24 * hour, now + hour].map((time) => dayOf(time, now))).toEqual(
      [
        'Today',
        'Yesterday',
        'Last seven days',
        'Earlier',
        'Today',
      ],
    );
  });
});

describe('summarize', () => {
  it('gives one short line', () => {
    expect(summarize(undefined)).toBe('');
    expect(summarize('a\n b')).toBe('a b');
    expect(summarize({ a: [1, 2], b: null })).toBe('a: [1,2], b: null');
    expect(summarize({ text: 'x'.repeat(1e6) }).length).toBeLessThan(130);
  });

  it('writes characters that reorder or hide text as their codes, in names and values', () => {
    expect(summarize({ 'to\u200B': 'evil\u202Etxt' })).toBe('to\\u200b: evil\\u202etxt');
  });
});
