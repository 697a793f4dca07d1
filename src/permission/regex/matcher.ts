/**
 * Says whether a text has a match, in linear time. The machine's states are made when they are first reached (a lazy deterministic
 * automaton), so that most characters cost one look into a table.
 */

import {
  type Assertion,
  type CharSet,
  isWord,
  type Node,
  parse,
  type ParseOptions,
  refused,
  schemaLimits,
  searchLimits,
} from './parse.ts';
import type { Work } from './work.ts';

/** A pattern that is ready to test texts. */
export interface Matcher {
  /** The size of the machine. */
  readonly steps: number;
  /** Whether the pattern matches somewhere in the text. @throws PinnaceError when the work is spent before the answer is known. */
  test(text: string, work: Work): boolean;
  /** As `test`, but stops every few milliseconds: the caller goes on when others have had their turn. */
  search(text: string, work: Work): Generator<undefined, boolean, undefined>;
}

/**
 * Creates the matcher of a pattern in a JSON Schema: ECMAScript with the flag `u`.
 *
 * @throws PinnaceError `invalid_argument`, reason `invalid_regex`, with the `position` in the pattern.
 */
export function createMatcher(pattern: string): Matcher {
  const program = compileRegex(pattern, { ignoreCase: false, dotAll: false, limits: schemaLimits });
  const alphabet = createAlphabet(program);
  const closure = createClosure(program);
  const isAnchored = startsOnlyAt(closure);
  let table = createTable();
  const search: Matcher['search'] = function* (text, work) {
    const own = table;
    try {
      return yield* run(text, { alphabet, closure, isAnchored, table: own, work });
    } finally {
      if (own.size > maxTableSize && table === own) table = createTable();
    }
  };
  return {
    steps: program.steps.length,
    search,
    test(text, work) {
      const searching = search(text, work);
      for (;;) {
        const { done, value } = searching.next();
        if (done) return value;
      }
    },
  };
}

/** Work of one turn: a few milliseconds. */
const workOfTurn = 20_000;

/** The character before a position. */
type Before = 'start' | 'word' | 'other';
/** The character after it. */
type After = 'end' | 'word' | 'other';

/** The machine's steps before it reads the next character, and the state that each kind of character leads to. */
interface State {
  readonly steps: readonly number[];
  readonly before: Before;
  /** By the kind of the next character; `true`: there is a match. */
  readonly next: (State | true)[];
  atEnd?: boolean;
}

interface Table {
  readonly states: Map<string, State>;
  /** Steps and ways of all its states. */
  size: number;
}

/** What a table may hold while it is used, and from one text to the next. */
const mostSize = 100_000;
const maxTableSize = 2_000;

const createTable = (): Table => ({ states: new Map(), size: 0 });

interface Run {
  readonly alphabet: Alphabet;
  readonly closure: Closure;
  readonly isAnchored: boolean;
  readonly table: Table;
  readonly work: Work;
}

function* run(text: string, machine: Run): Generator<undefined, boolean, undefined> {
  const { alphabet, closure, work } = machine;
  work.spend(1 + text.length / 16); // a look into a table costs little beside making a state
  let turn = work.spent() + workOfTurn;
  let state = stateOf([0], 'start', machine);
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!;
    if (code > 0xffff) at++;
    const kind = alphabet.kindOf(code, work);
    const next = state.next[kind] ?? learn(state, kind, machine);
    if (next === true) return true;
    if (next.steps.length === 0) return false;
    state = next;
    if (at % 65_536 > 1 && work.spent() < turn) continue;
    if (at > 1) yield;
    turn = work.spent() + workOfTurn;
  }
  state.atEnd ??= closure(state.steps, { before: state.before, after: 'end' }, work) === true;
  return state.atEnd;
}

function learn(state: State, kind: number, machine: Run): State | true {
  machine.table.size += Math.max(0, kind + 1 - state.next.length);
  const next = advance(state, kind, machine);
  state.next[kind] = next;
  return next;
}

function advance({ steps, before }: State, kind: number, machine: Run): State | true {
  const { alphabet, closure, isAnchored, work } = machine;
  const around = alphabet.isWord(kind) ? 'word' : 'other';
  const reached = closure(steps, { before, after: around }, work);
  if (reached === true) return true;
  const next = reached.filter((step) => alphabet.takes(step, kind)).map((step) => step + 1);
  if (!isAnchored) next.push(0); // a match may start at every position
  return stateOf(next, around, machine);
}

function stateOf(steps: number[], before: Before, { table, work }: Run): State {
  work.spend(2 * steps.length);
  const sorted = steps.toSorted((a, b) => a - b);
  const name = `${before}${sorted.join()}`;
  const known = table.states.get(name);
  if (known) return known;
  if (table.size > mostSize) {
    table.states.clear();
    table.size = 0;
  }
  const state: State = { steps: sorted, before, next: [] };
  table.states.set(name, state);
  table.size += sorted.length + 8;
  return state;
}

interface Position {
  readonly before: Before;
  readonly after: After;
}

/** Returns the steps that take a character, reached without one; `true` once the end of a match is among them. */
type Closure = (from: readonly number[], position: Position, work?: Work) => readonly number[] | true;

function createClosure({ steps }: Program): Closure {
  const marks = new Int32Array(steps.length);
  let mark = 0;
  return (from, position, work) => {
    mark++;
    const reached: number[] = [];
    const open = [...from];
    let visited = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (marks[at] === mark) continue;
      marks[at] = mark;
      visited++;
      const step = steps[at]!;
      if (step.op === 'match') return true;
      if (step.op === 'char') reached.push(at);
      else if (step.op === 'jump') open.push(step.to);
      else if (step.op === 'split') open.push(step.second, step.first);
      else if (holds(step.where, position)) open.push(at + 1);
    }
    work?.spend(visited);
    return reached;
  };
}

function holds(where: Assertion, { before, after }: Position): boolean {
  if (where === 'start') return before === 'start';
  if (where === 'end') return after === 'end';
  return ((before === 'word') !== (after === 'word')) === (where === 'word');
}

/** Whether a match can only start at the start of a text: then a failure there is final. */
function startsOnlyAt(closure: Closure): boolean {
  const within: readonly Before[] = ['word', 'other'];
  const follows: readonly After[] = ['word', 'other', 'end'];
  return within.every((before) =>
    follows.every((after) => {
      const reached = closure([0], { before, after });
      return reached !== true && reached.length === 0;
    })
  );
}

/** The kinds of characters of one machine. */
interface Alphabet {
  /** Returns the kind of a code point. */
  kindOf(code: number, work: Work): number;
  /** Whether the step, by its place in the machine, takes characters of this kind. */
  takes(step: number, kind: number): boolean;
  isWord(kind: number): boolean;
}

const ascii = 128;
/** The most other characters that are cached; then the cache starts again. */
const maxCached = 4_096;

/** Returns the alphabet of a machine, which learns each character when it meets it. */
function createAlphabet({ steps }: Program): Alphabet {
  const sets: CharSet[] = [];
  const numbers = new Map<string, number>();
  const setOfStep = steps.map((step) => step.op === 'char' ? numberOf(step.set, { sets, numbers }) : -1);
  const seesWords = steps.some((step) => step.op === 'assert' && /word/.test(step.where));
  const kinds = new Map<string, number>();
  const members: ReadonlySet<number>[] = [];
  const words: boolean[] = [];
  const plain = new Int32Array(ascii).fill(-1);
  const others = new Map<number, number>();
  const learnCode = (code: number, work: Work): number => {
    work.spend(sets.length);
    const own = sets.flatMap(({ test }, number) => (test(code) ? [number] : []));
    const word = seesWords && isWord(code);
    const name = `${own.join()}${word ? 'w' : ''}`;
    const kind = kinds.get(name) ?? kinds.size;
    kinds.set(name, kind);
    members[kind] ??= new Set(own);
    words[kind] ??= word;
    return kind;
  };
  return {
    kindOf(code, work) {
      if (code < ascii) return plain[code]! >= 0 ? plain[code]! : (plain[code] = learnCode(code, work));
      const known = others.get(code);
      if (known !== undefined) return known;
      if (others.size >= maxCached) others.clear();
      const kind = learnCode(code, work);
      others.set(code, kind);
      return kind;
    },
    takes: (step, kind) => members[kind]!.has(setOfStep[step]!),
    isWord: (kind) => words[kind]!,
  };
}

function numberOf(
  set: CharSet,
  { sets, numbers }: { readonly sets: CharSet[]; readonly numbers: Map<string, number> },
): number {
  const known = numbers.get(set.key);
  if (known !== undefined) return known;
  numbers.set(set.key, sets.length);
  return sets.push(set) - 1;
}

/** One step of a machine. `split` and `jump` take no character. */
export type Step =
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'assert'; readonly where: Assertion }
  | { readonly op: 'match' };

/** A machine, and a text that every match contains. */
export interface Program {
  readonly steps: readonly Step[];
  /** Empty when nothing is sure. */
  readonly literal: string;
  /** Says quickly of most texts that nothing in them matches. */
  readonly mayMatch: (text: string) => boolean;
}

/**
 * Creates the machine of a pattern that searches texts: `.` means every character.
 *
 * @throws PinnaceError `invalid_argument` for a pattern that is invalid, too long or not linear.
 */
export function parseRegex(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): Program {
  return compileRegex(pattern, { ignoreCase, dotAll: true, limits: searchLimits });
}

/** Compiles a pattern. @throws PinnaceError as {@link parse} does, also for a program that is too large. */
function compileRegex(pattern: string, options: ParseOptions): Program {
  const node = parse(pattern, options);
  const steps: Step[] = [];
  emit(node, { steps, most: options.limits.steps });
  steps.push({ op: 'match' });
  const literal = literalOf(node);
  const small = literal.toLowerCase();
  const mayMatch = options.ignoreCase
    ? (text: string) => text.toLowerCase().includes(small)
    : (text: string) => text.includes(literal);
  return { steps, literal, mayMatch };
}

interface Target {
  readonly steps: Step[];
  readonly most: number;
}

function emit(node: Node, target: Target): void {
  const { steps, most } = target;
  if (steps.length > most) throw refused('it is too large: its repetitions multiply', 0);
  switch (node.type) {
    case 'char':
      steps.push({ op: 'char', set: node.set });
      return;
    case 'assert':
      steps.push({ op: 'assert', where: node.where });
      return;
    case 'all':
      for (const one of node.nodes) emit(one, target);
      return;
    case 'any':
      emitAny(node.nodes, target);
      return;
    case 'repeat':
      emitRepeat(node, target);
  }
}

function emitAny(nodes: readonly Node[], target: Target): void {
  const { steps } = target;
  const jumps: number[] = [];
  for (const [at, node] of nodes.entries()) {
    const isLast = at === nodes.length - 1;
    const split = steps.length;
    if (!isLast) steps.push({ op: 'jump', to: 0 }); // becomes the split
    emit(node, target);
    if (isLast) continue;
    jumps.push(steps.push({ op: 'jump', to: 0 }) - 1);
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
  }
  for (const jump of jumps) steps[jump] = { op: 'jump', to: steps.length };
}

function emitRepeat({ node, least, most }: Extract<Node, { type: 'repeat' }>, target: Target): void {
  const { steps } = target;
  for (let i = 0; i < least && !isEmpty(node); i++) emit(node, target);
  if (isEmpty(node)) return;
  if (most === Infinity) {
    const split = steps.push({ op: 'jump', to: 0 }) - 1;
    emit(node, target);
    steps.push({ op: 'jump', to: split });
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
    return;
  }
  const splits: number[] = [];
  for (let i = least; i < most; i++) {
    splits.push(steps.push({ op: 'jump', to: 0 }) - 1);
    emit(node, target);
  }
  // Each leads to the end at once, not from one to the next: a state of the machine stays small.
  for (const split of splits) steps[split] = { op: 'split', first: split + 1, second: steps.length };
}

/** A group of nothing: to repeat it adds no step, and no bound would ever end it. */
function isEmpty(node: Node): boolean {
  return node.type === 'all' && node.nodes.every(isEmpty) ||
    node.type === 'repeat' && (node.most === 0 || isEmpty(node.node));
}

/** The longest text that every match contains: consecutive characters that are not optional. */
function literalOf(node: Node): string {
  if (node.type === 'char') return node.literal ?? '';
  if (node.type !== 'all') return node.type === 'repeat' && node.least > 0 ? literalOf(node.node) : '';
  let [best, row] = ['', ''];
  for (const one of node.nodes) {
    if (one.type === 'char' && one.literal !== undefined) row += one.literal;
    else {
      if (row.length > best.length) best = row;
      row = '';
      const inside = literalOf(one);
      if (inside.length > best.length) best = inside;
    }
  }
  return row.length > best.length ? row : best;
}
