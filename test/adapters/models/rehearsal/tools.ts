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
const clock = toolOf('current_time', 'Gives the current date and time', {
  timezone: { ...text, description: 'IANA time zone' },
}, []);
const find = toolOf('tool_find', 'Searches for tools by keywords', {
  query: text,
  limit: { ...integer, minimum: 1, maximum: 20 },
}, ['query']);
const load = toolOf('tool_load', 'Activates tools', { names: listOf(text) });
const describeTool = toolOf('tool_describe', 'Gives the details of one tool', { name: text });
const money = toolOf('convert_currency', 'Converts an amount of money from one currency to another', {
  amount: number,
  from: currency,
  to: currency,
});
const units = toolOf('convert_units', 'Converts a measure between units', {
  value: number,
  from_unit: text,
  to_unit: text,
});
const add = toolOf('add', 'Adds two numbers', { a: number, b: number });
const mail = toolOf('send_email', 'Sends an email message', {
  to: { ...text, format: 'email' },
  subject: text,
  body: text,
}, ['to', 'body']);
const task = toolOf('create_task', 'Creates a task', {
  title: text,
  priority: { enum: ['low', 'medium', 'high'] },
  due: date,
  urgent: flag,
  tags: listOf(text),
}, ['title']);
const translate = toolOf('translate_text', 'Translates text into another language', {
  text,
  target_language: text,
});
const web = toolOf('web_search', 'Searches the web', { query: text, limit: integer }, ['query']);
const page = toolOf('fetch_url', 'Downloads a page', { url: { ...text, format: 'uri' } });
const remember = toolOf('remember', 'Stores a fact in memory', { text });
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
