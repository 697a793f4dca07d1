/** Reads the regular expressions that can be matched in linear time: no look-around, no back-references. */

import { anyChar, dot, range } from './char-set.ts';
import { readClass, type Reader as Text, readEscape, takeCharacter } from './escape.ts';
import { type Node, refused, type RegexLimits } from './node.ts';

/** How a pattern is read. */
export interface ParseOptions {
  readonly ignoreCase: boolean;
  /** Whether `.` means the end of a line as well. */
  readonly dotAll: boolean;
  readonly limits: RegexLimits;
}

interface Reader extends Text, ParseOptions {
  /** Groups around the present position. */
  depth: number;
}

const deepest = 50;

/**
 * Parses the syntax of ECMAScript with the flag `u`, without look-around, back-references and inline flags. It also takes "{", "}" and
 * "]" where they can only mean themselves, and any escaped sign.
 *
 * @throws PinnaceError `invalid_argument`, reason `invalid_regex`, with the `position` and `why` in its details.
 */
export function parse(pattern: string, options: ParseOptions): Node {
  const { length } = options.limits;
  if (pattern.length > length) throw refused(`it goes on: more than ${length} characters are too many`, length);
  const reader: Reader = { pattern, at: 0, depth: 0, ...options };
  const node = readAny(reader);
  if (reader.at < pattern.length) throw refused('a ")" closes nothing', reader.at);
  return node;
}

function readAny(reader: Reader): Node {
  const nodes = [readAll(reader)];
  while (reader.pattern[reader.at] === '|') {
    reader.at++;
    nodes.push(readAll(reader));
  }
  return nodes.length === 1 ? nodes[0]! : { type: 'any', nodes };
}

function readAll(reader: Reader): Node {
  const nodes: Node[] = [];
  while (reader.at < reader.pattern.length && !/[|)]/.test(reader.pattern[reader.at]!)) {
    nodes.push(readRepeat(reader, readOne(reader)));
  }
  return { type: 'all', nodes };
}

const quantifier = /^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})/;

function readRepeat(reader: Reader, node: Node): Node {
  const start = reader.at;
  const found = quantifier.exec(reader.pattern.slice(start, start + 24));
  if (!found) return node;
  if (node.type === 'assert') throw refused(`a "${found[0]}" repeats a position`, start);
  reader.at += found[0].length;
  if (reader.pattern[reader.at] === '?') reader.at++; // laziness does not change whether there is a match
  if (quantifier.test(reader.pattern.slice(reader.at, reader.at + 24))) {
    throw refused('it repeats a repetition', reader.at);
  }
  const { least, most } = boundsOf(found);
  const { repetitions } = reader.limits;
  if (most < least) throw refused('the bounds of a repetition are in the wrong order', start);
  if (Math.max(least, most === Infinity ? 0 : most) > repetitions) {
    throw refused(`it repeats more than ${repetitions} times; bound the length with "maxLength"`, start);
  }
  return { type: 'repeat', node, least, most };
}

function boundsOf([sign, from, comma, to]: RegExpExecArray): { readonly least: number; readonly most: number } {
  if (from === undefined) return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
  const least = Number(from);
  if (comma === undefined) return { least, most: least };
  return { least, most: to === '' ? Infinity : Number(to) };
}

function readOne(reader: Reader): Node {
  const start = reader.at;
  if (reader.pattern[start] === '\\') return readEscaped(reader);
  const sign = takeCharacter(reader);
  switch (sign) {
    case '(':
      return readGroup(reader, start);
    case '[':
      return { type: 'char', set: readClass(reader) };
    case '.':
      return { type: 'char', set: reader.dotAll ? anyChar : dot };
    case '^':
      return { type: 'assert', where: 'start' };
    case '$':
      return { type: 'assert', where: 'end' };
    default:
      return readPlain(reader, { sign, start });
  }
}

function readPlain(reader: Reader, { sign, start }: { readonly sign: string; readonly start: number }): Node {
  const rest = reader.pattern.slice(start, start + 24);
  if (quantifier.test(rest)) throw refused(`a "${sign}" repeats nothing`, start);
  if (/^\{,\d+\}/.test(rest)) throw refused('a repetition lacks its lower bound: write "{0,n}"', start);
  return charNode(sign, reader);
}

/** The group's "(" is already read. */
function readGroup(reader: Reader, start: number): Node {
  if (++reader.depth > deepest) throw refused(`groups are nested deeper than ${deepest}`, start);
  if (reader.pattern[reader.at] === '?') reader.at += prefixOf(reader, start).length;
  const node = readAny(reader);
  if (reader.pattern[reader.at++] !== ')') throw refused('a "(" is not closed', start);
  reader.depth--;
  return node;
}

function prefixOf({ pattern, at }: Reader, start: number): string {
  const rest = pattern.slice(at, at + 70);
  if (/^\?<?[=!]/.test(rest)) throw refused('it looks around; patterns have no look-ahead and no look-behind', start);
  const prefix = /^\?(?::|<[\p{ID_Start}_$][\p{ID_Continue}$]{0,63}>)/u.exec(rest)?.[0];
  if (prefix === undefined) throw refused('a group begins with an unknown "(?"; "(?:" and "(?<name>" are known', start);
  return prefix;
}

function readEscaped(reader: Reader): Node {
  const next = reader.pattern[reader.at + 1];
  if (next === 'b' || next === 'B') {
    reader.at += 2;
    return { type: 'assert', where: next === 'b' ? 'word' : 'no-word' };
  }
  const escape = readEscape(reader, { inClass: false });
  if (typeof escape === 'number') return charNode(String.fromCodePoint(escape), reader);
  return { type: 'char', set: escape };
}

function charNode(sign: string, reader: Reader): Node {
  const code = sign.codePointAt(0)!;
  return { type: 'char', set: range(code, code, reader), literal: sign };
}
