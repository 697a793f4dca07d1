import { describe, expect, it } from 'vitest';
import { inFull } from '../../../../adapters/models/rehearsal/follow-up.ts';
import { ask, called, user } from './ask.ts';
import { calculator, clock } from './tools.ts';

describe('inFull', () => {
  it.each([
    ['And in feet?', 'Convert 10 km to miles', 'Convert 10 km to feet'],
    ['and in Paris?', 'What time is it in Tokyo?', 'What time is it in Paris?'],
    ['What about in New York', 'What time is it in Tokyo?', 'What time is it in New York?'],
    ['how about in nautical miles?', 'Convert 10 km into miles.', 'Convert 10 km into nautical miles.'],
  ])('repeats the message before with another ending: %s', (message, before, full) => {
    expect(inFull(message, before)).toBe(full);
  });

  it.each([
    ['And in feet?', ''],
    ['And delete it', 'Add a note to the list'],
    ['And in feet?', 'What is 6 * 7?'],
    ['Convert 5 km to miles', 'What time is it in Tokyo?'],
    ['And what is 6 * 7?', 'What time is it in Tokyo?'],
  ])('leaves other messages as they are: %s, %s', (message, before) => {
    expect(inFull(message, before)).toBe(message);
  });

  it('applies to the calls of the model', async () => {
    const before = called('current_time', { timeZone: 'Asia/Tokyo' }, { type: 'json', value: { text: 'It is 17:00' } });
    const prompt = [user('What time is it in Tokyo?'), ...before, user('And in Paris?')];
    const { calls } = await ask(prompt, [clock, calculator]);
    expect(calls.map(({ toolName }) => toolName)).toEqual(['current_time']);
    expect(calls[0]?.input).toContain('Paris');
  });
});
