/** Reads the regular expressions that can be matched in linear time: no look-around, no back-references. */

import {
  anyChar,
  type CharSet,
  classOf,
  complement,
  dot,
  type Node,
  propertyOf,
  range,
  refused,
  type RegexLimits,
  union,
} from './node.ts';

/** How a pattern is read. */
export interface ParseOptions {
  readonly ignoreCase: boolean;
  /** Whether `.` means the end of a line as well. */
  readonly dotAll: boolean;
  readonly limits: RegexLimits;
}

interface Reader extends PatternText, ParseOptions {
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

/** A pattern, and how far it is read. */
interface PatternText {
  readonly pattern: string;
  at: number;
  readonly ignoreCase: boolean;
}

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Reads an escape, the backslash included: a set, or the code point of one character. */
function readEscape(reader: PatternText, { inClass }: { readonly inClass: boolean }): CharSet | number {
  const start = reader.at++;
  const sign = takeCharacter(reader);
  if (sign === '') throw refused('it ends with a backslash', start);
  const set = classOf(sign);
  if (set) return set;
  if (sign === 'p' || sign === 'P') return readProperty(reader, { start, isNot: sign === 'P' });
  if (sign === 'b' && inClass) return 8;
  if (Object.hasOwn(controls, sign)) return controls[sign]!;
  if (sign === '0' && !/^\d/.test(reader.pattern.slice(reader.at))) return 0;
  if (sign === 'x') return readHex(reader, { start, form: /^[\da-f]{2}/i });
  if (sign === 'u') return readUnicode(reader, start);
  if (sign === 'c') return readControl(reader, start);
  if (/^[1-9k]$/.test(sign) && !inClass) {
    throw refused('it refers back to a group; patterns have no back-references', start);
  }
  if (/^[A-Za-z0-9]$/.test(sign)) throw refused(`the escape "\\${sign}" does not exist`, start);
  return sign.codePointAt(0)!;
}

interface Escape {
  /** Where its backslash is. */
  readonly start: number;
}

function readProperty(reader: PatternText, { start, isNot }: Escape & { readonly isNot: boolean }): CharSet {
  const found = /^\{([^{}]{0,130})\}/.exec(reader.pattern.slice(reader.at, reader.at + 132));
  const set = found && propertyOf(found[1]!);
  if (!set) throw refused('it names no Unicode property, as "\\p{L}" does', start);
  reader.at += found[0].length;
  return isNot ? complement(set) : set;
}

function readHex(reader: PatternText, { start, form }: Escape & { readonly form: RegExp }): number {
  const digits = form.exec(reader.pattern.slice(reader.at, reader.at + 16))?.[0];
  if (digits === undefined) throw refused('an escape lacks its hexadecimal digits', start);
  reader.at += digits.length;
  return Number.parseInt(digits.replace(/[{}]/g, ''), 16);
}

function readUnicode(reader: PatternText, start: number): number {
  const code = readHex(reader, { start, form: /^(?:[\da-f]{4}|\{[\da-f]{1,8}\})/i });
  if (code > 0x10ffff) throw refused('it names no character: the last one is 10FFFF', start);
  const low = /^\\u(d[c-f][\da-f]{2})/i.exec(reader.pattern.slice(reader.at, reader.at + 6))?.[1];
  if (code < 0xd800 || code > 0xdbff || low === undefined) return code;
  reader.at += 6; // two escapes that are the halves of one character
  return (code - 0xd800) * 0x400 + Number.parseInt(low, 16) - 0xdc00 + 0x10000;
}

function readControl(reader: PatternText, start: number): number {
  const letter = reader.pattern[reader.at++] ?? '';
  if (!/^[A-Za-z]$/.test(letter)) throw refused('"\\c" lacks its letter', start);
  return letter.charCodeAt(0) % 32;
}

/** Takes one character, which may be two code units; empty at the end. */
function takeCharacter(reader: PatternText): string {
  const code = reader.pattern.codePointAt(reader.at);
  if (code === undefined) return '';
  const sign = String.fromCodePoint(code);
  reader.at += sign.length;
  return sign;
}

/** Reads a class, whose "[" is already read. */
function readClass(reader: PatternText): CharSet {
  const start = reader.at - 1;
  const isNot = reader.pattern[reader.at] === '^';
  if (isNot) reader.at++;
  const sets: CharSet[] = [];
  while (reader.pattern[reader.at] !== ']') {
    if (reader.at >= reader.pattern.length) throw refused('a "[" is not closed', start);
    sets.push(...readMember(reader));
  }
  reader.at++;
  const set = sets.length === 0 ? { key: 'none', test: () => false } : union(sets);
  return isNot ? complement(set) : set;
}

/** One character, one set, or a range. A "-" beside a set means itself. */
function readMember(reader: PatternText): readonly CharSet[] {
  const start = reader.at;
  const first = readAtom(reader);
  const isRange = reader.pattern[reader.at] === '-' &&
    !/^-(?:\]|$)/.test(reader.pattern.slice(reader.at, reader.at + 2));
  if (!isRange) return [asSet(first, reader)];
  reader.at++;
  const last = readAtom(reader);
  if (typeof first !== 'number' || typeof last !== 'number') {
    return [asSet(first, reader), asSet(0x2d, reader), asSet(last, reader)];
  }
  if (last < first) throw refused('a range goes backwards', start);
  return [range(first, last, reader)];
}

function readAtom(reader: PatternText): CharSet | number {
  if (reader.pattern[reader.at] === '\\') return readEscape(reader, { inClass: true });
  return takeCharacter(reader).codePointAt(0)!;
}

function asSet(atom: CharSet | number, reader: PatternText): CharSet {
  return typeof atom === 'number' ? range(atom, atom, reader) : atom;
}
