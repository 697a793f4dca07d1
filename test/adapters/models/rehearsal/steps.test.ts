import { describe, expect, it } from 'vitest';
import { ask, called, callsFor, type Prompt, toolOf, user } from './ask.ts';
import { calculator, issues, load, money, several, update, weather } from './tools.ts';

type Output = Parameters<typeof called>[2];

function json(value: unknown): Output {
  return { type: 'json', value } as Output; // safe: the tests give JSON
}

function failed(value: string): Output {
  return { type: 'error-text', value };
}

/** What the model says after one call of a tool. */
async function reportOf(output: Output, input: unknown = {}): Promise<string> {
  return (await ask([user('Look'), ...called('look', input, output)], [toolOf('look', 'Looks', {})])).text;
}

describe('the report of the rehearsal model', () => {
  it.each<[string, Output, string]>([
    ['a number', json(42), '`look` returned **42**.'],
    ['a text', { type: 'text', value: 'All is well' }, '`look` returned **All is well**.'],
    ['nothing', json(null), '`look` returned nothing.'],
    ['an empty list', json([]), '`look` returned:\n\n(none)'],
    ['a list', json(['a', 2, true]), '`look` returned:\n\n- a\n- 2\n- true'],
    ['a record', json({ city: 'Oslo', degrees: -3 }), '`look` returned:\n\n- **city**: Oslo\n- **degrees**: -3'],
    [
      'a list of records',
      json([{ name: 'Ann', age: 30 }, { name: 'Bob | B\n2', age: 41 }]),
      '`look` returned:\n\n| name | age |\n| --- | --- |\n| Ann | 30 |\n| Bob \\| B 2 | 41 |',
    ],
    [
      'a list in a record',
      json({ tools: [{ name: 'a' }, { name: 'b' }] }),
      '**tools** (2):\n\n| name |\n| --- |\n| a |\n| b |',
    ],
    ['a page of a longer list', json({ notes: ['a'], total: 9 }), '**notes** (1 of 9):\n\n- a'],
    ['an empty list in a record', json({ notes: [], total: 0 }), 'No notes.'],
    ['a summary that the tool wrote', json({ value: 4, text: 'two and two = 4' }), 'Two and two = 4.'],
    [
      'the text of an MCP server',
      json({ source: 'files', untrusted: true, content: [{ type: 'text', text: 'Three files' }] }),
      '**files** returned: Three files.',
    ],
    [
      'the data of an MCP server',
      json({ source: 'files', untrusted: true, data: { count: 3 }, content: [{ type: 'text', text: 'Three' }] }),
      '**files** returned:\n\n- **count**: 3',
    ],
    [
      'the longer texts of an MCP server, and that there is an image',
      json({ source: 'files', untrusted: true, content: [{ type: 'text', text: 'a\nb' }, { type: 'image' }] }),
      '**files** returned:\n\na\nb\n\n(image)',
    ],
    [
      'a failure that an MCP server reports',
      json({ source: 'files', untrusted: true, isError: true, content: [{ type: 'text', text: 'Disk full' }] }),
      '`look` failed: Disk full.',
    ],
    [
      'the data of an HTTP API',
      json({ source: 'https://api.example.com', untrusted: true, status: 200, data: 21 }),
      '**https://api.example.com** returned: 21.',
    ],
    ['a record that a tool made', json({ id: 'invoice-1', title: 'Dues' }), 'Done: **Dues** (`invoice-1`).'],
    [
      'content',
      { type: 'content', value: [{ type: 'text', text: 'One' }, { type: 'custom' }] },
      '`look` returned:\n\nOne\n(custom)',
    ],
  ])('shows %s', async (_, output, text) => {
    expect(await reportOf(output)).toBe(text);
  });

  it('says what the tool was asked', async () => {
    expect(await reportOf(json(4), { expression: '2+2' })).toBe('`look` (2+2) returned **4**.');
  });

  it('does not take a text that came with the input for a summary', async () => {
    expect(await reportOf(json({ text: 'buy milk', words: 2 }), { text: 'buy milk' })).toContain('- **words**: 2');
  });

  it('cuts what is too long for people and says so', async () => {
    const text = await reportOf(json(Array.from({ length: 100 }, (_, i) => i)));
    expect(text).toContain('- 11\n');
    expect(text).toContain('… and 88 more');
    expect(await reportOf(json('word '.repeat(1000)))).toContain('more characters)');
  });

  it.each<[string, Output, string]>([
    ['an error text', failed('Error: Disk full.'), '`look` failed: Disk full.'],
    [
      'an error as JSON',
      { type: 'error-json', value: { code: 'internal', message: 'Disk full' } },
      '`look` failed: Disk full.',
    ],
    ['a returned failure', json({ ok: false, error: { message: 'Disk full' } }), '`look` failed: Disk full.'],
    [
      "MCP's failure",
      json({ isError: true, content: [{ type: 'text', text: 'Disk full' }] }),
      '`look` failed: Disk full.',
    ],
    [
      'a denial',
      { type: 'execution-denied', reason: 'not today' },
      '`look` was not run: it was not approved (not today).',
    ],
  ])('says plainly that a call failed after %s', async (_, output, text) => {
    expect(await reportOf(output)).toBe(text);
  });

  it('covers every call of the turn and none of an earlier one', async () => {
    const prompt: Prompt = [
      user('What is 1+1?'),
      ...called('calculator', { expression: '1+1' }, json(2), 'old'),
      { role: 'assistant', content: [{ type: 'text', text: 'It is 2' }] },
      user('What is 2+2 and the weather in Oslo?'),
      ...called('calculator', { expression: '2+2' }, json(4), 'new-1'),
      ...called('get_weather', { city: 'Oslo' }, json('rain'), 'new-2'),
    ];
    const { text } = await ask(prompt, several);
    expect(text).toBe('`calculator` (2+2) returned **4**.\n\n`get_weather` (Oslo) returned **rain**.');
  });

  it('says so where a call has no answer', async () => {
    const prompt: Prompt = [
      user('What is 2+2?'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'calculator', input: {} }] },
    ];
    expect((await ask(prompt, [calculator])).text).toBe('`calculator` has not answered.');
  });
});

describe('the second try of the rehearsal model', () => {
  const text = { type: 'string' };
  const mode = toolOf('set_mode', 'Sets the mode', { mode: text });
  const logs = toolOf('list_logs', 'Lists log lines', { lines: { type: 'integer' }, name: text }, ['lines']);

  it.each([
    ['"mode" must be "eco" or "boost"', { mode: 'turbo-boost' }, { mode: 'boost' }, mode],
    ['Expected one of: eco, boost', { mode: 'bo' }, { mode: 'boost' }, mode],
    ['Unknown mode "turbo": did you mean "turbo-eco"?', { mode: 'turbo' }, { mode: 'turbo-eco' }, mode],
    ['"lines" must be at most 10', { lines: 50 }, { lines: 10 }, logs],
    ['"lines" must be at least 1', { lines: 0 }, { lines: 1 }, logs],
    ['"lines" must be a number', { lines: '7' }, { lines: 7 }, logs],
    ['"state" breaks the rule "enum"', { state: 'closing' }, { state: 'closed' }, issues],
    [
      '{"code":"conflict","message":"The node has changed","latestVersion":"v8"}',
      { nodeId: 'n1', title: 'New', versionToken: 'v7' },
      { nodeId: 'n1', title: 'New', versionToken: 'v8' },
      update,
    ],
  ])('follows the error %s', async (error, input, corrected, tool) => {
    const prompt = [user('list 5 log lines and set the mode'), ...called(tool.name, input, failed(error))];
    const answer = await ask(prompt, [tool]);
    expect(answer.calls.map(({ toolName, input: sent }) => [toolName, JSON.parse(sent)])).toEqual([[
      tool.name,
      corrected,
    ]]);
    expect(answer.text).toContain(`\`${tool.name}\` failed: `);
    expect(answer.text).toContain('I try once more');
    expect(answer.finish).toBe('tool-calls');
  });

  it('is the last, and takes the place of the first in the report', async () => {
    const first = called('set_mode', { mode: 'turbo' }, failed('"mode" must be "eco" or "boost"'), 'first');
    const { calls: [retry] } = await ask([user('set the mode'), ...first], [mode]);
    const toolCallId = retry?.toolCallId;
    const again = called('set_mode', { mode: 'eco' }, failed('"mode" must be "slow" or "fast"'), toolCallId);
    const twice = await ask([user('set the mode'), ...first, ...again], [mode]);
    expect(twice.calls).toEqual([]);
    expect(twice.text).toBe('`set_mode` failed: "mode" must be "slow" or "fast".');
    const mended = called('set_mode', { mode: 'eco' }, json('ok'), toolCallId);
    const { text: report } = await ask([user('set the mode'), ...first, ...mended], [mode]);
    expect(report).toBe('At the second try: `set_mode` (eco) returned **ok**.');
  });

  it.each(['Disk full', 'Tool "set_mode" failed', ''])('is not made when the error only says "%s"', async (error) => {
    const prompt = [user('set the mode'), ...called('set_mode', { mode: 'eco' }, failed(error))];
    expect((await ask(prompt, [mode])).calls).toEqual([]);
  });

  it('is not made after a denial', async () => {
    const denied: Output = { type: 'execution-denied', reason: 'must be one of "eco", "boost"' };
    expect((await ask([user('set the mode'), ...called('set_mode', { mode: 'x' }, denied)], [mode])).calls).toEqual([]);
  });
});

describe('what stands behind "then"', () => {
  const message = 'find tools for money, then load them, then convert 5 USD to EUR';
  const found = called('tool_find', { query: 'money' }, json({ tools: [{ name: 'convert_currency' }] }), 'a');
  const loaded = called('tool_load', { names: ['convert_currency'] }, json({ active: 2 }), 'b');

  it('waits for what stands before, and may use what that returned', async () => {
    expect(await callsFor([user(message)], several)).toEqual([['tool_find', { query: 'money' }]]);
    expect(await callsFor([user(message), ...found], several)).toEqual([
      ['tool_load', { names: ['convert_currency'] }],
    ]);
  });

  it('may use a tool that only became active in between', async () => {
    expect(await callsFor([user(message), ...found, ...loaded], [load, money])).toEqual([
      ['convert_currency', { amount: 5, from: 'USD', to: 'EUR' }],
    ]);
  });

  it('is left out when what stands before failed', async () => {
    const broken = called('tool_find', { query: 'money' }, failed('Disk full'));
    const { calls, text } = await ask([user(message), ...broken], several);
    expect([calls, text]).toEqual([[], '`tool_find` failed: Disk full.']);
  });

  it('is reported on together, at the end', async () => {
    const last = called('convert_currency', { amount: 5 }, json(4.5), 'c');
    const { calls, text } = await ask([user(message), ...found, ...loaded, ...last], [load, money, weather]);
    expect(calls).toEqual([]);
    expect(text).toMatch(/\*\*tools\*\*[^]*`tool_load`[^]*`convert_currency` \(5\) returned \*\*4\.5\*\*/);
  });
});
