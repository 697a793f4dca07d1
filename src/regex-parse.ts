/** Reads the regular expressions that can be matched in linear time: no look-around, no back-references. */

import { PinnaceError } from './errors.ts';

/** One step of a machine. `split` and `jump` take no character. */
export type Step =
  | { readonly op: 'char'; readonly test: (code: number) => boolean }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'assert'; readonly where: 'start' | 'end' | 'word' | 'no-word' }
  | { readonly op: 'match' };

type Node =
  | { readonly type: 'char'; readonly test: (code: number) => boolean; readonly literal?: string }
  | { readonly type: 'assert'; readonly where: 'start' | 'end' | 'word' | 'no-word' }
  | { readonly type: 'all'; readonly nodes: readonly Node[] }
  | { readonly type: 'any'; readonly nodes: readonly Node[] }
  | { readonly type: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

/** A machine, and a text that every match contains. */
export interface Program {
  readonly steps: readonly Step[];
  /** Empty when nothing is sure. */
  readonly literal: string;
  /** Says quickly of most texts that nothing in them matches. */
  readonly mayMatch: (text: string) => boolean;
}

const longestPattern = 200;
const mostSteps = 1_000;

/**
 * Makes the machine of a pattern: characters, `.`, classes, `\d \w \s \b`, groups, `|`, `* + ? {m,n}`, `^ $`.
 *
 * @throws PinnaceError `invalid_argument` for what cannot be read, and for what is too long or not linear.
 */
export function parseRegex(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): Program {
  if (pattern.length > longestPattern) throw refused(`it is longer than ${longestPattern}`);
  const reader = { pattern, at: 0, ignoreCase };
  const node = readAny(reader, 0);
  if (reader.at < pattern.length) throw refused('a ")" closes nothing');
  const steps: Step[] = [];
  emit(node, steps);
  steps.push({ op: 'match' });
  const literal = literalOf(node);
  const small = literal.toLowerCase();
  const mayMatch = ignoreCase
    ? (text: string) => text.toLowerCase().includes(small)
    : (text: string) => text.includes(literal);
  return { steps, literal, mayMatch };
}

interface Reader {
  readonly pattern: string;
  at: number;
  readonly ignoreCase: boolean;
}

function readAny(reader: Reader, depth: number): Node {
  if (depth > 20) throw refused('its groups are nested too deeply');
  const nodes = [readAll(reader, depth)];
  while (reader.pattern[reader.at] === '|') {
    reader.at++;
    nodes.push(readAll(reader, depth));
  }
  return nodes.length === 1 ? nodes[0]! : { type: 'any', nodes };
}

function readAll(reader: Reader, depth: number): Node {
  const nodes: Node[] = [];
  while (reader.at < reader.pattern.length && reader.pattern[reader.at] !== '|' && reader.pattern[reader.at] !== ')') {
    nodes.push(readRepeat(reader, readOne(reader, depth)));
  }
  return { type: 'all', nodes };
}

function readRepeat(reader: Reader, node: Node): Node {
  const found = /^(?:[*+?]|\{(\d{1,3})(,(\d{0,3}))?\})\??/.exec(reader.pattern.slice(reader.at));
  if (!found) return node;
  reader.at += found[0].length;
  const [sign, from, comma, to] = [found[0][0], found[1], found[2], found[3]];
  const least = from === undefined ? Number(sign === '+') : Number(from);
  const open = sign === '*' || sign === '+' || (comma !== undefined && to === '');
  const bounded = from === undefined ? 1 : comma === undefined ? least : Number(to);
  const most = open ? Infinity : bounded;
  if (most < least || Math.max(least, most === Infinity ? 0 : most) > 100) throw refused('it repeats too often');
  if (/^[*+?]/.test(reader.pattern.slice(reader.at))) throw refused('it repeats a repetition');
  return { type: 'repeat', node, least, most };
}

function readOne(reader: Reader, depth: number): Node {
  const sign = reader.pattern[reader.at++]!;
  if (sign === '(') return readGroup(reader, depth);
  if (sign === '[') return { type: 'char', test: readClass(reader) };
  if (sign === '.') return { type: 'char', test: () => true };
  if (sign === '^') return { type: 'assert', where: 'start' };
  if (sign === '$') return { type: 'assert', where: 'end' };
  if (sign === '\\') return readEscape(reader);
  if ('*+?'.includes(sign)) throw refused(`a "${sign}" repeats nothing`);
  return charNode(sign, reader);
}

function readGroup(reader: Reader, depth: number): Node {
  if (reader.pattern[reader.at] === '?') {
    if (!reader.pattern.startsWith('?:', reader.at)) throw refused('it looks around, or names a group');
    reader.at += 2;
  }
  const node = readAny(reader, depth + 1);
  if (reader.pattern[reader.at++] !== ')') throw refused('a "(" is not closed');
  return node;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** As `\w`: letters of other scripts are not among them. */
export const isWord = (code: number): boolean =>
  isDigit(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0xfeff;
const classes: Readonly<Record<string, (code: number) => boolean>> = { d: isDigit, w: isWord, s: isSpace };
const controls: Readonly<Record<string, string>> = { t: '\t', r: '\r', f: '\f', v: '\v', n: '\n', 0: '\0' };

function readEscape(reader: Reader): Node {
  const sign = reader.pattern[reader.at++];
  if (sign === undefined) throw refused('it ends with a backslash');
  if (sign === 'b') return { type: 'assert', where: 'word' };
  if (sign === 'B') return { type: 'assert', where: 'no-word' };
  const test = classOf(sign);
  if (test) return { type: 'char', test };
  if (/[1-9k]/.test(sign)) throw refused('it refers back');
  if (/[A-Za-z]/.test(sign) && !Object.hasOwn(controls, sign)) throw refused(`"\\${sign}" is not known here`);
  return charNode(controls[sign] ?? sign, reader);
}

function classOf(sign: string): ((code: number) => boolean) | undefined {
  const small = sign.toLowerCase();
  const test = Object.hasOwn(classes, small) ? classes[small] : undefined;
  return test && sign !== small ? (code) => !test(code) : test;
}

function charNode(sign: string, { ignoreCase }: Reader): Node {
  return { type: 'char', test: rangeTest(sign.charCodeAt(0), sign.charCodeAt(0), ignoreCase), literal: sign };
}

function rangeTest(from: number, to: number, ignoreCase: boolean): (code: number) => boolean {
  if (!ignoreCase) return from === to ? (code) => code === from : (code) => code >= from && code <= to;
  const inside = (code: number): boolean => code >= from && code <= to;
  return (code) => {
    const text = String.fromCharCode(code);
    return inside(code) || inside(text.toLowerCase().charCodeAt(0)) || inside(text.toUpperCase().charCodeAt(0));
  };
}

function readClass(reader: Reader): (code: number) => boolean {
  const { pattern, ignoreCase } = reader;
  const isNot = pattern[reader.at] === '^';
  if (isNot) reader.at++;
  const tests: ((code: number) => boolean)[] = [];
  for (;;) {
    const sign = pattern[reader.at++];
    if (sign === undefined) throw refused('a "[" is not closed');
    if (sign === ']') break;
    const escaped = sign === '\\' ? pattern[reader.at++] ?? '' : undefined;
    const test = escaped === undefined ? undefined : classOf(escaped);
    if (test) {
      tests.push(test);
      continue;
    }
    const first = escaped === undefined ? sign : controls[escaped] ?? escaped;
    const isRange = pattern[reader.at] === '-' && pattern[reader.at + 1] !== ']' && pattern[reader.at + 1] !== '\\';
    const last = isRange ? pattern[reader.at + 1] ?? '' : first;
    if (isRange) reader.at += 2;
    if (last < first) throw refused('a range in it goes backwards');
    tests.push(rangeTest(first.charCodeAt(0), last.charCodeAt(0), ignoreCase));
  }
  return (code) => tests.some((test) => test(code)) !== isNot;
}

function emit(node: Node, steps: Step[]): void {
  if (steps.length > mostSteps) throw refused('it is too large');
  switch (node.type) {
    case 'char':
      steps.push({ op: 'char', test: node.test });
      return;
    case 'assert':
      steps.push({ op: 'assert', where: node.where });
      return;
    case 'all':
      for (const one of node.nodes) emit(one, steps);
      return;
    case 'any':
      emitAny(node.nodes, steps);
      return;
    case 'repeat':
      emitRepeat(node, steps);
  }
}

function emitAny(nodes: readonly Node[], steps: Step[]): void {
  const jumps: number[] = [];
  for (const [at, node] of nodes.entries()) {
    const isLast = at === nodes.length - 1;
    const split = steps.length;
    if (!isLast) steps.push({ op: 'jump', to: 0 }); // becomes the split
    emit(node, steps);
    if (isLast) continue;
    jumps.push(steps.push({ op: 'jump', to: 0 }) - 1);
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
  }
  for (const jump of jumps) steps[jump] = { op: 'jump', to: steps.length };
}

function emitRepeat({ node, least, most }: Extract<Node, { type: 'repeat' }>, steps: Step[]): void {
  for (let i = 0; i < least; i++) emit(node, steps);
  if (most === Infinity) {
    const split = steps.push({ op: 'jump', to: 0 }) - 1;
    emit(node, steps);
    steps.push({ op: 'jump', to: split });
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
    return;
  }
  for (let i = least; i < most; i++) {
    const split = steps.push({ op: 'jump', to: 0 }) - 1;
    emit(node, steps);
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
  }
}

/** The longest text that stands in every match: of characters in a row that are not optional. */
function literalOf(node: Node): string {
  if (node.type === 'char') return node.literal ?? '';
  if (node.type !== 'all') return node.type === 'repeat' && node.least > 0 ? literalOf(node.node) : '';
  let [best, run] = ['', ''];
  for (const one of node.nodes) {
    if (one.type === 'char' && one.literal !== undefined) run += one.literal;
    else {
      if (run.length > best.length) best = run;
      run = '';
      const inside = literalOf(one);
      if (inside.length > best.length) best = inside;
    }
  }
  return run.length > best.length ? run : best;
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot search with the regular expression: ${why}`, {
    details: { reason: 'invalid_regex' },
  });
}
