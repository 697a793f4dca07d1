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
export const sales = toolOf('sales_report', 'Sums up sales in a period', { to: date, from: date });
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
export const average = toolOf('average', 'Gives the mean of numbers', { numbers: listOf(number) });
export const order = toolOf('create_order', 'Creates an order', {
  order: { type: 'object', properties: { sku: text, count: integer }, required: ['sku'] },
});
export const thermostat = toolOf('set_thermostat', 'Sets the temperature of a room', {
  room: text,
  temperature: number,
});
export const capital = toolOf('lookup_capital', 'Gives the capital city of a country', { country: text });
export const stock = toolOf('stock_price', 'Gives the price of a stock', {
  symbol: { ...text, pattern: '^[A-Z]{1,5}$' },
});
export const random = toolOf('random_number', 'Gives a random integer', { min: integer, max: integer });
export const tag = toolOf('tag_post', 'Tags a post', {
  postId: text,
  tags: listOf({ enum: ['red', 'green', 'blue'] }),
});
export const code = toolOf('run_code', 'Runs code in a sandbox', {
  code: text,
  language: { enum: ['python', 'javascript'] },
});
export const file = toolOf('write_file', 'Writes a file', { path: text, content: text });
export const node = toolOf('get_node', 'Gives one node', { nodeId: text });
export const children = toolOf('list_children', 'Lists the children of a node', { nodeId: text, limit: integer }, [
  'nodeId',
]);
export const fail = toolOf('fail', 'Always fails with the given code', { code: { enum: ['internal', 'not_found'] } });
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
