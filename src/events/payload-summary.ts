/** Summaries of payloads in events: shape and size as `key=value` pairs that people and programs can read. */

import type { SummaryValue } from '../contracts/event-sink.ts';

const longest = 512;
/** Needs no quotes: numbers, names and ids. */
const bare = /^[\w.:/@*+-]+$/;
/** The look-behind reads a long word without a value once, not once per letter. */
const pair = /(?<![\w.])([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)/g;

/** Writes `{ steps: 2, state: 'completed' }` as `steps=2 state=completed`: at most 512 characters, without undefined values. */
export function summaryOf(facts: Readonly<Record<string, SummaryValue>>): string {
  let text = '';
  for (const key of Object.keys(facts)) {
    const value = facts[key];
    if (value === undefined) continue;
    const next = `${text === '' ? '' : ' '}${key}=${valueOf(value)}`;
    if (text.length + next.length > longest) break; // whole facts only
    text += next;
  }
  return text;
}

/** Reads what {@link summaryOf} has written; numbers become numbers. Skips text that is not a pair. */
export function readSummary(text: string): Readonly<Record<string, string | number>> {
  return Object.fromEntries([...text.matchAll(pair)].map(([, key, value]) => [key, readValue(value ?? '')]));
}

function valueOf(value: Exclude<SummaryValue, undefined>): string {
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Math.round(value * 1000) / 1000);
  const plain = String(value);
  return bare.test(plain) && !isNumeric(plain) ? plain : JSON.stringify(plain);
}

function readValue(text: string): string | number {
  if (text.startsWith('"')) return readQuoted(text);
  return isNumeric(text) ? Number(text) : text;
}

/** Text of other writers may not be JSON; it is returned as it is. */
function readQuoted(text: string): string {
  try {
    return JSON.parse(text) as string; // safe: text that starts with a quote is a string, or not JSON
  } catch {
    return text;
  }
}

/** Checks the start first: most texts are names, and parsing them as numbers is slow. */
function isNumeric(text: string): boolean {
  return /^[\s\d.+-]|^$/.test(text) && Number.isFinite(Number(text));
}
