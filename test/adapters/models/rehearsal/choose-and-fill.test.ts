import { describe, expect, it } from 'vitest';
import { type ActiveTool, called, callsFor, toolOf, user } from './ask.ts';
import * as t from './tools.ts';

type Tools = readonly ActiveTool[];
interface Case {
  readonly message: string;
  readonly calls: readonly [string, unknown][];
  readonly tools: Tools;
}

/** A message, the calls that it asks for, and the tools that are active: several, where none are given. */
function toCase([message, calls, tools = t.several]: [string, [string, unknown][], Tools?]): Case {
  return { message, calls, tools };
}

const cases = ([
  ['What is 2+2?', [['calculator', { expression: '2+2' }]]],
  ['what is 15% of 80', [['calculator', { expression: '15 / 100 * 80' }]]],
  ['Calculate (3 + 4) * 5 / 2 please', [['calculator', { expression: '(3 + 4) * 5 / 2' }]]],
  ['What is 12 times 7?', [['calculator', { expression: '12 * 7' }]]],
  ['the square root of 16', [['calculator', { expression: 'sqrt(16)' }]]],
  ["what's the weather like in new york tomorrow?", [['get_weather', { city: 'new york' }]]],
  ['weather in Oslo in fahrenheit for 3 days', [['get_weather', { city: 'Oslo', unit: 'fahrenheit', days: 3 }]]],
  ['What time is it?', [['current_time', {}]]],
  ['what time is it in Tokyo?', [['current_time', { timezone: 'Asia/Tokyo' }]]],
  ['find a tool for currency conversion', [['tool_find', { query: 'currency conversion' }]]],
  ['load registry_list and registry_next', [['tool_load', { names: ['registry_list', 'registry_next'] }]]],
  ['use tool_find to look for calendars', [['tool_find', { query: 'calendars' }]]],
  ['which tools are active?', [['tool_active', {}]], [t.find, t.load, t.active]],
  ['convert 5 USD to EUR', [['convert_currency', { amount: 5, from: 'USD', to: 'EUR' }]]],
  ['Convert 10 km to miles', [['convert_units', { value: 10, from_unit: 'km', to_unit: 'miles' }]], [
    t.units,
    t.calculator,
  ]],
  ['how many miles are 10 km?', [['convert_units', { value: 10, from_unit: 'km', to_unit: 'miles' }]], [
    t.units,
    t.calculator,
  ]],
  ['add 3 and 4', [['add', { a: 3, b: 4 }]]],
  ['what is the sum of 3 and 4', [['add', { a: 3, b: 4 }]], [t.add, t.weather]],
  [
    'create a task called "Buy milk" with high priority due 2026-12-01',
    [['create_task', { title: 'Buy milk', priority: 'high', due: '2026-12-01' }]],
  ],
  ['Translate good morning into Spanish', [['translate_text', { text: 'good morning', target_language: 'Spanish' }]]],
  ['search the web for cheap flights to Rome', [['web_search', { query: 'cheap flights to Rome' }]]],
  ['open https://example.com/a?b=1.', [['fetch_url', { url: 'https://example.com/a?b=1' }]]],
  ['add a note: "Check the chain before we leave"', [['notes_add', { text: 'Check the chain before we leave' }]], [
    t.notesAdd,
  ]],
  ['remember that I like green tea', [['remember', { text: 'I like green tea' }]]],
  ['Show me 5 open issues', [['list_issues', { state: 'open', limit: 5 }]], [t.issues]],
  [
    'how many sales between 2026-01-01 and 2026-03-31?',
    [['sales_report', { to: '2026-03-31', from: '2026-01-01' }]],
    [t.sales],
  ],
  ['average of 4, 8, 15, 16, 23 and 42', [['average', { numbers: [4, 8, 15, 16, 23, 42] }]], [t.average]],
  ['create an order with {"sku":"A1","count":2}', [['create_order', { order: { sku: 'A1', count: 2 } }]], [t.order]],
  ['create an order with sku "A1" and count 2', [['create_order', { order: { sku: 'A1', count: 2 } }]], [t.order]],
  [
    'Set the thermostat in the living room to 21.5 degrees',
    [['set_thermostat', { room: 'living room', temperature: 21.5 }]],
    [t.thermostat],
  ],
  ['What is the capital of France?', [['lookup_capital', { country: 'France' }]], [t.capital]],
  ['stock price of AAPL', [['stock_price', { symbol: 'AAPL' }]], [t.stock]],
  ['generate a random number between 1 and 6', [['random_number', { min: 1, max: 6 }]], [t.random]],
  ['tag the post INV-0042 with red and blue', [['tag_post', { postId: 'INV-0042', tags: ['red', 'blue'] }]], [t.tag]],
  ['run the code `print(1)` in python', [['run_code', { code: 'print(1)', language: 'python' }]], [t.code]],
  ['write a file hello.txt with content "hi there"', [['write_file', { path: 'hello.txt', content: 'hi there' }]], [
    t.file,
  ]],
  ['get node root', [['get_node', { nodeId: 'root' }]], [t.node, t.children]],
  ['list children of n1, limit 5', [['list_children', { nodeId: 'n1', limit: 5 }]], [t.node, t.children]],
  ['fail with not_found', [['fail', { code: 'not_found' }]], [t.fail]],
  ['describe calculator', [['tool_describe', { name: 'calculator' }]]],
] as [string, [string, unknown][], Tools?][]).map(toCase);

const parallelCases = ([
  ["What's the weather in Paris and Berlin?", [['get_weather', { city: 'Paris' }], ['get_weather', {
    city: 'Berlin',
  }]]],
  [
    'what is the weather in Paris, London and Rome',
    [['get_weather', { city: 'Paris' }], ['get_weather', { city: 'London' }], ['get_weather', { city: 'Rome' }]],
  ],
  [
    'time in Tokyo and the weather in Paris; and what is 3*3?',
    [['current_time', { timezone: 'Asia/Tokyo' }], ['get_weather', { city: 'Paris' }], ['calculator', {
      expression: '3*3',
    }]],
  ],
  ['What is 2+2?\nremember that tea is green', [
    ['calculator', { expression: '2+2' }],
    ['remember', { text: 'tea is green' }],
  ]],
  ['search for "a" and "b"', [['web_search', { query: 'a' }], ['web_search', { query: 'b' }]], [t.web]],
  ['fetch https://a.example/x and https://b.example/y', [
    ['fetch_url', { url: 'https://a.example/x' }],
    ['fetch_url', { url: 'https://b.example/y' }],
  ]],
  ['get node n1 and list its children', [['get_node', { nodeId: 'n1' }], ['list_children', { nodeId: 'n1' }]], [
    t.node,
    t.children,
  ]],
  ['ping 10.0.0.1 twice', [['ping', { host: '10.0.0.1' }], ['ping', { host: '10.0.0.1' }]], [t.ping]],
] as [string, [string, unknown][], Tools?][]).map(toCase);

describe('the rehearsal model', () => {
  it.each(cases)('turns "$message" into calls', async ({ message, calls, tools }) => {
    expect(await callsFor(message, tools)).toEqual(calls);
  });

  it.each(parallelCases)('asks for several things at once after "$message"', async ({ message, calls, tools }) => {
    expect(await callsFor(message, tools)).toEqual(calls);
  });

  it.each([
    'hello',
    'I like the city',
    'thanks, that was great',
    'roll back',
    'who wrote Faust?',
    '',
    '???',
    'why not?',
    'good morning, how are you today?',
    'what is new?',
    'what is the meaning of life',
  ])('calls nothing for "%s"', async (message) => {
    expect(await callsFor(message, t.several)).toEqual([]);
  });

  it('follows references, defaults and the kinds of nested values in a schema', async () => {
    const tool = toolOf('plan_trip', 'Plans a trip', {}, []);
    const inputSchema = {
      $defs: { Place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
      type: 'object',
      properties: {
        mode: { anyOf: [{ type: 'null' }, { enum: ['train', 'plane'] }], default: 'train' },
        place: { $ref: '#/$defs/Place' },
      },
      required: ['mode', 'place'],
    } as unknown as typeof tool.inputSchema; // safe: it is JSON Schema
    expect(await callsFor('plan a trip to Lisbon', [{ ...tool, inputSchema }])).toEqual([
      ['plan_trip', { mode: 'train', place: { city: 'Lisbon' } }],
    ]);
  });

  it('takes what is required and not said from what tools returned before', async () => {
    const seen = called('tool_find', { query: 'money' }, {
      type: 'json',
      value: { tools: [{ name: 'convert_currency' }, { name: 'exchange_rate' }] },
    });
    const prompt = [user('find tools for money'), ...seen, user('load them')];
    expect(await callsFor(prompt, [t.load])).toEqual([['tool_load', { names: ['convert_currency', 'exchange_rate'] }]]);
    const node = called('tree_get', { nodeId: 'n1' }, { type: 'json', value: { nodeId: 'n1', version: 'v7' } });
    expect(await callsFor([user('read n1'), ...node, user('update node n1 with title "New"')], [t.update])).toEqual([
      ['tree_update', { nodeId: 'n1', title: 'New', versionToken: 'v7' }],
    ]);
  });

  it('makes up a key that is the same for the same conversation and another in the next', async () => {
    const [[, input] = []] = await callsFor('move node n7 under n2', [t.move]);
    expect(input).toMatchObject({ nodeId: 'n7', newParentId: 'n2', idempotencyKey: expect.any(String) });
    expect(await callsFor('move node n7 under n2', [t.move])).toEqual([['tree_move', input]]);
    expect(await callsFor('move node n7 under n3', [t.move])).not.toContainEqual([
      'tree_move',
      expect.objectContaining({ idempotencyKey: (input as { idempotencyKey: string }).idempotencyKey }),
    ]);
  });
});
