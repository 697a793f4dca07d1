/** Reads what follows a backslash in a regular expression, and classes in brackets. */

import { type CharSet, classOf, complement, propertyOf, range, union } from './char-set.ts';
import { refused } from './node.ts';

/** A pattern, and how far it is read. */
export interface Reader {
  readonly pattern: string;
  at: number;
  readonly ignoreCase: boolean;
}

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Reads an escape, the backslash included: a set, or the code point of one character. */
export function readEscape(reader: Reader, { inClass }: { readonly inClass: boolean }): CharSet | number {
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

function readProperty(reader: Reader, { start, isNot }: Escape & { readonly isNot: boolean }): CharSet {
  const found = /^\{([^{}]{0,130})\}/.exec(reader.pattern.slice(reader.at, reader.at + 132));
  const set = found && propertyOf(found[1]!);
  if (!set) throw refused('it names no Unicode property, as "\\p{L}" does', start);
  reader.at += found[0].length;
  return isNot ? complement(set) : set;
}

function readHex(reader: Reader, { start, form }: Escape & { readonly form: RegExp }): number {
  const digits = form.exec(reader.pattern.slice(reader.at, reader.at + 16))?.[0];
  if (digits === undefined) throw refused('an escape lacks its hexadecimal digits', start);
  reader.at += digits.length;
  return Number.parseInt(digits.replace(/[{}]/g, ''), 16);
}

function readUnicode(reader: Reader, start: number): number {
  const code = readHex(reader, { start, form: /^(?:[\da-f]{4}|\{[\da-f]{1,8}\})/i });
  if (code > 0x10ffff) throw refused('it names no character: the last one is 10FFFF', start);
  const low = /^\\u(d[c-f][\da-f]{2})/i.exec(reader.pattern.slice(reader.at, reader.at + 6))?.[1];
  if (code < 0xd800 || code > 0xdbff || low === undefined) return code;
  reader.at += 6; // two escapes that are the halves of one character
  return (code - 0xd800) * 0x400 + Number.parseInt(low, 16) - 0xdc00 + 0x10000;
}

function readControl(reader: Reader, start: number): number {
  const letter = reader.pattern[reader.at++] ?? '';
  if (!/^[A-Za-z]$/.test(letter)) throw refused('"\\c" lacks its letter', start);
  return letter.charCodeAt(0) % 32;
}

/** Takes one character, which may be two code units; empty at the end. */
export function takeCharacter(reader: Reader): string {
  const code = reader.pattern.codePointAt(reader.at);
  if (code === undefined) return '';
  const sign = String.fromCodePoint(code);
  reader.at += sign.length;
  return sign;
}

/** Reads a class, whose "[" is already read. */
export function readClass(reader: Reader): CharSet {
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
function readMember(reader: Reader): readonly CharSet[] {
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

function readAtom(reader: Reader): CharSet | number {
  if (reader.pattern[reader.at] === '\\') return readEscape(reader, { inClass: true });
  return takeCharacter(reader).codePointAt(0)!;
}

function asSet(atom: CharSet | number, reader: Reader): CharSet {
  return typeof atom === 'number' ? range(atom, atom, reader) : atom;
}
