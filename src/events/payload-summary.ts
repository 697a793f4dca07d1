/** What an event says of a payload: its shape and size as `key=value` pairs, which people read and programs read back. */

import type { SummaryValue } from '../contracts/span.ts';

const longest = 512;
/** What needs no quotes: numbers, names and ids. */
const bare = /^[\w.:/@*+-]+$/;
/** Looks back so that a long word without a value is read once, not from each of its letters. */
const pair = /(?<![\w.])([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)/g;

/** Writes `{ steps: 2, state: 'completed' }` as `steps=2 state=completed`: at most 512 characters, what is undefined left out. */
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

/** Reads what {@link summaryOf} has written; numbers come back as numbers. What is no pair is passed over. */
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

/** What another has written may be no JSON: it stands for itself. */
function readQuoted(text: string): string {
  try {
    return JSON.parse(text) as string; // safe: what begins with a quote is a string, or no JSON
  } catch {
    return text;
  }
}

/** Looks at the beginning first: most texts are names, and to try them as numbers costs more than to write them. */
function isNumeric(text: string): boolean {
  return /^[\s\d.+-]|^$/.test(text) && Number.isFinite(Number(text));
}
