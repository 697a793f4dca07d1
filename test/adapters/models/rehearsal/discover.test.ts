import { describe, expect, it } from 'vitest';
import { ask, called, callsFor, type Prompt, toolOf, user } from './ask.ts';
import { calculator, describeTool, load, money } from './tools.ts';

type Output = Parameters<typeof called>[2];

function json(value: unknown): Output {
  return { type: 'json', value } as Output; // safe: the tests give JSON
}

const find = toolOf('tool_find', 'Finds tools by keywords. Load what you need with tool_load before you call it.', {
  query: { type: 'string' },
});
const discovery = [find, describeTool, load];
const message = 'Convert 5 USD to EUR';
const hits = (...tools: readonly object[]) => json({ tools, fit: 0.9 });
const found = called('tool_find', { query: message }, hits({ name: 'convert_currency', active: false }), 'a');
const loaded = called('tool_load', { names: ['convert_currency'] }, json({ active: 1 }), 'b');
const converted = called('convert_currency', { amount: 5 }, json(4.5), 'c');

describe('a rehearsal model that can look for tools', () => {
  it('finds, loads and calls', async () => {
    expect(await callsFor([user(message)], discovery)).toEqual([['tool_find', { query: message, limit: 5 }]]);
    expect(await callsFor([user(message), ...found], discovery)).toEqual([
      ['tool_load', { names: ['convert_currency'] }],
    ]);
    expect(await callsFor([user(message), ...found, ...loaded], [...discovery, money])).toEqual([
      ['convert_currency', { amount: 5, from: 'USD', to: 'EUR' }],
    ]);
  });

  it('reports on the task, and not on the search', async () => {
    const { text } = await ask([user(message), ...found, ...loaded, ...converted], [...discovery, money]);
    expect(text).toContain('**4.5**');
    expect(text).not.toContain('tool_');
  });

  it('loads nothing that is active already, and calls what was found, whatever else is active', async () => {
    const active = called('tool_find', { query: message }, hits({ name: 'convert_currency', active: true }));
    expect(await callsFor([user(message), ...active], [...discovery, calculator, money])).toEqual([
      ['convert_currency', { amount: 5, from: 'USD', to: 'EUR' }],
    ]);
  });

  it.each<[string, Prompt]>([
    ['nothing was found', called('tool_find', { query: message }, hits())],
    ['nothing fits', called('tool_find', { query: message }, json({ tools: [{ name: 'a' }], message: 'None fits' }))],
    ['the search failed', called('tool_find', { query: message }, { type: 'error-text', value: 'Disk full' })],
    [
      'what was found cannot be loaded',
      [...found, ...called('tool_load', { names: ['convert_currency'] }, { type: 'error-text', value: 'No' })],
    ],
  ])('says so when %s', async (_, searched) => {
    const { calls, text } = await ask([user(message), ...searched], discovery);
    expect([calls, text]).toEqual([[], expect.stringContaining('found none')]);
  });

  it.each(['Hello', 'Thanks!', 'Who are you?', 'Write a long answer about tools'])(
    'looks for nothing after "%s"',
    async (words) => {
      expect(await callsFor([user(words)], discovery)).toEqual([]);
    },
  );

  it('searches as instructed when the message names the tool', async () => {
    expect(await callsFor([user('use tool_find to look for calendars')], discovery)).toEqual([
      ['tool_find', { query: 'calendars' }],
    ]);
  });

  it('searches without what is quoted', async () => {
    expect(await callsFor([user('Create a ticket called "Stuck winch"')], discovery)).toEqual([
      ['tool_find', { query: 'Create a ticket called', limit: 5 }],
    ]);
  });
});
