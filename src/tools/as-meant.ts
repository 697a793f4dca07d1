/** Reads data of models, which nothing holds to its schema, by what is meant. */

import { parseJson } from '../base/json.ts';
import type { Issue } from '../base/parse.ts';
import type { Tool } from './tool.ts';

/**
 * Returns the data of which a check has found issues as it is meant: without a field that is null, as models write one that they leave
 * out, and with the value that a text is the JSON of. `undefined` where nothing else can be meant. What it returns must be checked again.
 */
export function asMeant(data: unknown, issues: readonly Issue[]): unknown {
  let meant = data;
  for (const path of new Set(issues.map((issue) => issue.path))) meant = meantAt(meant, path.split('.'));
  return meant === data ? undefined : meant;
}

/** Whether the text of an input may have a part that is meant as another: most have none, and need no check here. */
const mayHaveOther = /\bnull\b|"(?:[[{]|-?\d|true"|false")/;

/** Returns the input of a model's call as it is meant where the tool refuses it as it is, and else as it is. */
export function meantInput(tool: Pick<Tool, 'check'> | undefined, input: unknown, text: string): unknown {
  if (!tool || !mayHaveOther.test(text)) return input;
  try {
    const checked = tool.check(input);
    if (checked instanceof Promise || checked.ok) return input;
    const meant = asMeant(input, checked.issues);
    const again = meant === undefined ? checked : tool.check(meant);
    return again instanceof Promise || !again.ok ? input : meant;
  } catch {
    return input; // of a tool that says later what is wrong
  }
}

function meantAt(data: unknown, [key = '', ...below]: readonly string[]): unknown {
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, key)) return data;
  const { [key]: value, ...others } = data as Readonly<Record<string, unknown>>; // an object, as just looked
  if (value === null && below.length === 0 && !Array.isArray(data)) return others;
  const meant = below.length > 0 ? meantAt(value, below) : typeof value === 'string' ? valueOf(value) : value;
  if (meant === value) return data;
  return Array.isArray(data) ? data.with(Number(key), meant) : { ...data, [key]: meant };
}

/** The value that a text is the JSON of; the text itself where it is none, or a number that would lose digits. */
function valueOf(text: string): unknown {
  try {
    const value = parseJson(text);
    return value === null || typeof value === 'string' || (typeof value === 'number' && String(value) !== text.trim())
      ? text
      : value;
  } catch {
    return text;
  }
}
