/** Tools of many kinds, none of them Pinnace's own alone. */

import { toolOf } from './ask.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const flag = { type: 'boolean' };
const date = { type: 'string', format: 'date' };
const listOf = (items: object): object => ({ type: 'array', items });
const currency = { type: 'string', pattern: '^[A-Z]{3}$' };

export const calculator = toolOf('calculator', 'Evaluates an arithmetic expression', {
  expression: { ...text, description: 'Such as (2 + 3) * 4' },
});
export const weather = toolOf('get_weather', 'Gives the weather in a city', {
  city: text,
  unit: { enum: ['celsius', 'fahrenheit'] },
  days: integer,
}, ['city']);
export const clock = toolOf('current_time', 'Gives the current date and time', {
  timezone: { ...text, description: 'IANA time zone' },
}, []);
export const find = toolOf('tool_find', 'Searches for tools by keywords', {
  query: text,
  limit: { ...integer, minimum: 1, maximum: 20 },
}, ['query']);
export const load = toolOf('tool_load', 'Activates tools', { names: listOf(text) });
export const describeTool = toolOf('tool_describe', 'Gives the details of one tool', { name: text });
export const active = toolOf('tool_active', 'Lists the active tools', {});
export const money = toolOf('convert_currency', 'Converts an amount of money from one currency to another', {
  amount: number,
  from: currency,
  to: currency,
});
export const units = toolOf('convert_units', 'Converts a measure between units', {
  value: number,
  from_unit: text,
  to_unit: text,
});
export const add = toolOf('add', 'Adds two numbers', { a: number, b: number });
export const mail = toolOf('send_email', 'Sends an email message', {
  to: { ...text, format: 'email' },
  subject: text,
  body: text,
}, ['to', 'body']);
export const task = toolOf('create_task', 'Creates a task', {
  title: text,
  priority: { enum: ['low', 'medium', 'high'] },
  due: date,
  urgent: flag,
  tags: listOf(text),
}, ['title']);
export const translate = toolOf('translate_text', 'Translates text into another language', {
  text,
  target_language: text,
});
export const web = toolOf('web_search', 'Searches the web', { query: text, limit: integer }, ['query']);
export const page = toolOf('fetch_url', 'Downloads a page', { url: { ...text, format: 'uri' } });
export const remember = toolOf('remember', 'Stores a fact in memory', { text });
export const issues = toolOf('list_issues', 'Lists the issues of a repository', {
  state: { enum: ['open', 'closed', 'all'] },
  limit: { ...integer, default: 20, maximum: 100 },
}, []);
export const registry = toolOf('registry_list', 'Lists tasks', {
  sortBy: { enum: ['title', 'due', 'priority'] },
  order: { enum: ['asc', 'desc'] },
  includeArchived: flag,
}, []);
export const flight = toolOf('book_flight', 'Books a flight', {
  origin: text,
  destination: text,
  date,
  passengers: integer,
});
export const sales = toolOf('sales_report', 'Sums up sales in a period', { to: date, from: date });
export const meeting = toolOf('schedule_meeting', 'Schedules a meeting in the calendar', {
  attendee: text,
  start: { ...text, format: 'date-time' },
  durationMinutes: { ...integer, description: 'Length in minutes' },
});
export const move = toolOf('tree_move', 'Moves a node to another parent', {
  nodeId: text,
  newParentId: text,
  versionToken: text,
  idempotencyKey: text,
}, ['nodeId', 'newParentId', 'idempotencyKey']);
export const update = toolOf('tree_update', 'Updates the title of a node', {
  nodeId: text,
  title: text,
  versionToken: text,
});
export const ping = toolOf('ping', 'Pings a host', { host: { ...text, format: 'ipv4' } });
export const countedPing = toolOf('ping', 'Pings a host', { host: { ...text, format: 'ipv4' }, count: integer });
export const average = toolOf('average', 'Gives the mean of numbers', { numbers: listOf(number) });
export const shopping = toolOf('add_items', 'Adds items to the shopping list', { items: listOf(text) });
export const order = toolOf('create_order', 'Creates an order', {
  order: { type: 'object', properties: { sku: text, count: integer }, required: ['sku'] },
});
export const draw = toolOf('draw', 'Draws a shape', {
  shape: {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'square' }, side: number }, required: ['kind', 'side'] },
      { type: 'object', properties: { kind: { const: 'circle' }, radius: number }, required: ['kind', 'radius'] },
    ],
  },
});
export const thermostat = toolOf('set_thermostat', 'Sets the temperature of a room', {
  room: text,
  temperature: number,
});
export const light = toolOf('set_light', 'Switches a light on or off', { room: text, on: flag });
export const song = toolOf('play_song', 'Plays music', {
  title: text,
  artist: text,
  volume: { ...integer, minimum: 0, maximum: 100 },
}, ['title']);
export const capital = toolOf('lookup_capital', 'Gives the capital city of a country', { country: text });
export const stock = toolOf('stock_price', 'Gives the price of a stock', {
  symbol: { ...text, pattern: '^[A-Z]{1,5}$' },
});
export const rate = toolOf('exchange_rate', 'Gives the exchange rate of two currencies', {
  base: currency,
  quote: currency,
});
export const reminder = toolOf('create_reminder', 'Creates a reminder', {
  text,
  time: { ...text, format: 'time' },
}, ['text']);
export const docs = toolOf('search_docs', 'Searches the documentation', { query: text, maxResults: integer }, [
  'query',
]);
export const resize = toolOf('resize_image', 'Resizes an image', { file: text, width: integer, height: integer });
export const random = toolOf('random_number', 'Gives a random integer', { min: integer, max: integer });
export const tag = toolOf('tag_post', 'Tags a post', {
  postId: text,
  tags: listOf({ enum: ['red', 'green', 'blue'] }),
});
export const transfer = toolOf('transfer_money', 'Moves money between accounts', {
  amount: number,
  to_account: { enum: ['savings', 'checking'] },
  from_account: { enum: ['savings', 'checking'] },
});
export const code = toolOf('run_code', 'Runs code in a sandbox', {
  code: text,
  language: { enum: ['python', 'javascript'] },
});
export const file = toolOf('write_file', 'Writes a file', { path: text, content: text });
export const echo = toolOf('slow_echo', 'Waits and then echoes a text', { delayMs: integer, text }, []);
export const node = toolOf('get_node', 'Gives one node', { nodeId: text });
export const children = toolOf('list_children', 'Lists the children of a node', { nodeId: text, limit: integer }, [
  'nodeId',
]);
export const child = toolOf('add_child', 'Adds a child to a node', {
  parentNodeId: text,
  payloadType: text,
  payloadProps: { type: 'object' },
});
export const property = toolOf('update_payload_property', 'Sets one property of the payload of a node', {
  nodeId: text,
  propertyName: text,
  newValue: {},
});
export const search = toolOf('search', 'Finds nodes by their properties', {
  rootNodeId: text,
  filters: listOf({
    type: 'object',
    properties: { path: text, op: { enum: ['eq', 'contains'] }, value: text },
    required: ['path', 'op', 'value'],
  }),
});
export const send = toolOf('send', 'Sends a message to a sub-agent', { address: text, message: text });
export const human = toolOf('ask_human', 'Asks the person a question and waits for the reply', {
  question: text,
  choices: listOf(text),
}, ['question']);
export const fail = toolOf('fail', 'Always fails with the given code', { code: { enum: ['internal', 'not_found'] } });
export const chinese = toolOf('tianqi', '查询一个城市的天气', { city: text });

/** Tools that are active together in most tests. */
export const several = [
  calculator,
  weather,
  clock,
  find,
  load,
  describeTool,
  money,
  units,
  add,
  mail,
  task,
  translate,
  web,
  page,
  remember,
];

export const notesAdd = toolOf(
  'notes_add',
  'Writes down and keeps a note. Adds a new note, or with `noteId` a paragraph to the note that has this id.',
  { text: { type: 'string', description: 'The text to write down' }, noteId: { type: 'string' } },
  ['text'],
);
