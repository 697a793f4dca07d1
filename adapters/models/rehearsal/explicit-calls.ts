/** Calls that the message spells out, for rehearsing failures: the JSON is passed on unchanged, even if it is invalid. */

import { endOfJson } from './clause.ts';
import { numberOf } from './fill/fill-number.ts';

/** A call with its input as JSON text. */
export interface Call {
  readonly toolName: string;
  readonly input: string;
}

const number = '\\d{1,3}|two|three|four|five|six|seven|eight|nine|ten';
const opening = new RegExp(
  '(?<=^|[\\s,;(])(?:' +
    '/(?<slash>[\\w.-]{1,128})[ \\t]*(?=[{[])|/(?<=^[ \\t]*/)(?<bare>[\\w.-]{1,128})[ \\t]*$|' +
    '(?:(?:call|use|invoke|run|execute)\\s+)?(?:the\\s+)?(?:tool\\s+)?[`"\']?(?<name>[A-Za-z][\\w.-]{0,127})[`"\']?(?:\\s+tool)?' +
    `(?:\\s+(?<before>${number})\\s+times|\\s+(?<twice>twice))?` +
    '(?:,?\\s+(?:with|using|on))?(?:\\s+(?:the\\s+)?(?:input|arguments?|args|json|parameters?))?(?:\\s*:)?\\s*(?=[{]))',
  'gimu',
);
const verb = /^(?:call|use|invoke|run|execute)$/iu;
const behind = new RegExp(`^\\s*,?\\s*(?:(${number})\\s+times|(twice)|[x×](\\d{1,3}))\\b`, 'iu');

/** Returns the calls in the order of the message. */
export function explicitCallsOf(message: string): readonly Call[] {
  const calls: Call[] = [];
  let from = 0;
  for (const found of message.matchAll(opening)) {
    const { slash, bare, name = slash ?? bare ?? '', before, twice } = found.groups ?? {};
    if (bare?.toLowerCase() === 'help') continue; // people write it to programs that they do not know
    const isSlash = (slash ?? bare) !== undefined;
    if (found.index < from || verb.test(name) || (!isSlash && !isRequest(found[0]) && calls.length === 0)) continue;
    const start = found.index + found[0].length;
    const end = inputEnd(message, start);
    const after = behind.exec(message.slice(end, end + 40));
    const times = timesOf(before ?? after?.[1] ?? after?.[3], twice ?? after?.[2]);
    const input = end === start ? '{}' : message.slice(start, end);
    calls.push(...Array.from({ length: times }, () => ({ toolName: name, input })));
    from = end;
  }
  return calls;
}

/** Without a verb, `name {…}` is a call only behind one that has it: "call a with {…} and b with {…}". */
function isRequest(opened: string): boolean {
  return /^(?:call|use|invoke|run|execute)\s/iu.test(opened);
}

/** Where the input ends: at its closing bracket, else with its line. */
function inputEnd(message: string, start: number): number {
  if (!/[{[]/u.test(message.charAt(start))) return start;
  const lineEnd = message.indexOf('\n', start);
  return endOfJson(message, start) ?? (lineEnd < 0 ? message.length : lineEnd);
}

function timesOf(count: string | undefined, twice: string | undefined): number {
  if (twice !== undefined) return 2;
  return count === undefined ? 1 : Math.min(100, Math.max(1, numberOf(count)));
}
