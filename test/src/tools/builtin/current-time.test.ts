import { describe, expect, it } from 'vitest';
import { currentTimeTool } from '../../../../src/tools/builtin/current-time.ts';
import { outcomeOf } from '../../../fixtures/tools/tool-call.ts';

const friday = Date.UTC(2026, 10, 20, 22, 58, 31, 500);

function timeAt(now: number, input: unknown = {}, timeZone = 'UTC'): Promise<Record<string, unknown>> {
  return outcomeOf(currentTimeTool({ now: () => now, timeZone }), input);
}

describe('current_time', () => {
  it.each([
    ['UTC', '2026-11-20', '22:58:31', 'Friday', '+00:00'],
    ['Asia/Tokyo', '2026-11-21', '07:58:31', 'Saturday', '+09:00'],
    ['America/New_York', '2026-11-20', '17:58:31', 'Friday', '-05:00'],
    ['America/St_Johns', '2026-11-20', '19:28:31', 'Friday', '-03:30'],
    ['Asia/Kathmandu', '2026-11-21', '04:43:31', 'Saturday', '+05:45'],
    ['Pacific/Kiritimati', '2026-11-21', '12:58:31', 'Saturday', '+14:00'],
    ['Etc/GMT+5', '2026-11-20', '17:58:31', 'Friday', '-05:00'],
  ])('knows %s', async (timeZone, date, time, weekday, offset) => {
    expect(await timeAt(friday, { timeZone })).toMatchObject({ timeZone, date, time, weekday, offset });
  });

  it('writes midnight as 00', async () => {
    expect(await timeAt(Date.UTC(2024, 1, 29))).toMatchObject({ date: '2024-02-29', time: '00:00:00' });
  });

  it('pads the years before 1000', async () => {
    expect(await timeAt(Date.parse('0476-09-04T12:00:00Z'))).toMatchObject({ date: '0476-09-04' });
  });

  it('takes the zone of its options where the input names none', async () => {
    expect(await timeAt(friday, {}, 'Asia/Tokyo')).toMatchObject({ timeZone: 'Asia/Tokyo', time: '07:58:31' });
  });

  it('takes clock and zone of the machine where nothing is said', async () => {
    expect(await outcomeOf(currentTimeTool(), {})).toMatchObject({ timeZone: expect.any(String) });
  });

  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['Berlin', 'Europe/Berlin'],
    ['new york', 'America/New_York'],
    ['utc', 'UTC'],
  ])('understands %j', async (timeZone, zone) => {
    expect(await timeAt(friday, { timeZone })).toMatchObject({ timeZone: zone });
  });

  it.each([
    ['Europe/Berln', ['Europe/Berlin']],
    ['Tokio', ['Asia/Tokyo']],
    ['Mars/Olympus Mons', []],
    ['__proto__', []],
    ['x'.repeat(64), []],
  ])('refuses %j and suggests %j', async (timeZone, suggestions) => {
    const error = await timeAt(friday, { timeZone });
    expect(error).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'unknown_time_zone', suggestions: expect.arrayContaining(suggestions) },
    });
    expect(error['message']).toContain(suggestions[0] ?? 'Europe/Berlin');
    expect(error['message']).not.toContain(timeZone);
  });
});
