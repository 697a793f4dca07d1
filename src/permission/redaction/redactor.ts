/** Removes known secrets from text: in every encoding and letter case, with invisible characters between, and where chunks cut them. */

import { checkOptions } from '../../base/check-options.ts';
import { PinnaceError } from '../../base/errors.ts';
import { foldCase, type Invisible, patternsOf, separateInvisible } from './patterns.ts';

/** Text that arrives piece by piece. */
export interface Redaction {
  /** Returns the text that is safe to pass on; holds back only a possible start of a secret. */
  readonly push: (text: string) => string;
  /** Returns the rest. The next piece starts another text. */
  readonly end: () => string;
}

/** Takes secrets out. */
export interface Redactor {
  readonly text: (text: string) => string;
  readonly stream: () => TransformStream<string, string>;
  /** One for each text whose pieces are mixed with those of others, as the parts of a message are. */
  readonly begin: () => Redaction;
}

/** The shortest secret that can be distinguished from ordinary text. */
const minSecretLength = 8;

/** Whether a value is long enough to be removed from text: at least 8 visible code units. */
export function isRedactable(value: string): boolean {
  return separateInvisible(value).text.length >= minSecretLength;
}

/**
 * Creates a redactor; a secret becomes `[secret id]`. Create one per set of secrets and reuse it: it has no state.
 * Letter case does not matter, nor do invisible characters (zero-width, soft hyphen and the like) within a secret.
 *
 * @throws PinnaceError `invalid_argument` for a value shorter than 8 visible characters: ordinary text would go with it.
 * @example
 * createRedactor([{ id: 'github', value: 'ghp_16C7e42F292c6912' }]).text('token ghp_16C7e42F292c6912'); // token [secret github]
 */
export function createRedactor(secrets: readonly { readonly id: string; readonly value: string }[]): Redactor {
  checkOptions('create the redactor', { secrets }, { secrets: ['array', 'an array of { id, value }'] });
  const patterns = secrets.flatMap(toPatterns);
  const automaton = buildAutomaton(patterns.map(({ pattern }) => pattern));
  const begin = (): Redaction => startRedaction({ automaton, patterns });
  return {
    begin,
    text(text) {
      if (text.length < minSecretLength || scanPlain(automaton, { text, state: 0 }) !== undefined) return text;
      const { push, end } = begin();
      return push(text) + end();
    },
    stream() {
      const { push, end } = begin();
      return new TransformStream({
        transform: (text, controller) => enqueue(controller, push(text)),
        flush: (controller) => enqueue(controller, end()),
      });
    },
  };
}

interface Pattern {
  readonly pattern: string;
  readonly marker: string;
}

function toPatterns({ id, value }: { readonly id: string; readonly value: string }): Pattern[] {
  if (!isRedactable(value)) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot redact secret "${id}": its value must have at least ${minSecretLength} visible characters`,
      { details: { reason: 'secret_too_short' } },
    );
  }
  const patterns = new Set(patternsOf(value).map((form) => foldCase(separateInvisible(form).text)));
  return [...patterns].filter(({ length }) => length >= minSecretLength)
    .map((pattern) => ({ pattern, marker: `[secret ${id}]` }));
}

function enqueue(controller: TransformStreamDefaultController<string>, text: string): void {
  if (text !== '') controller.enqueue(text);
}

/** A place that a pattern covers. It may still grow. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}

/** The state of one text. Positions count visible code units from the start of the held text. */
interface Progress {
  readonly automaton: Automaton;
  readonly patterns: readonly Pattern[];
  state: number;
  /** The first half of a character whose second half has not come. */
  half: string;
  held: string;
  /** The invisible characters of the held text, in order. */
  hidden: Invisible[];
  /** How many of them were passed on or removed. */
  hiddenDone: number;
  /** The start of the text that was not passed on. */
  from: number;
  spans: readonly Span[];
}

/** The most invisible code units to hold. Where a possible secret has more of them, they are dropped: none of it can be passed on. */
const maxHidden = 1024;

type Matcher = Pick<Progress, 'automaton' | 'patterns'>;

function startRedaction(matcher: Matcher): Redaction {
  const { automaton, patterns } = matcher;
  const start = (): Progress => (
    { automaton, patterns, state: 0, half: '', held: '', hidden: [], hiddenDone: 0, from: 0, spans: [] }
  );
  let progress = start();
  return {
    push(text) {
      if (passPlain(progress, text)) return text;
      const whole = progress.half + text;
      const cut = whole.length - (endsInHalf(whole) ? 1 : 0);
      progress.half = whole.slice(cut);
      return feed(progress, whole.slice(0, cut));
    },
    end() {
      const out = feed(progress, progress.half);
      const { held } = progress;
      const rest = pass(progress, { text: held, upTo: Infinity }) + write(progress, { text: held, upTo: held.length });
      progress = start();
      return out + rest;
    },
  };
}

/** Whether the text can be passed on as it is: nothing is held, and nothing in it may belong to a secret. This is the usual case. */
function passPlain(progress: Progress, text: string): boolean {
  if (progress.held !== '' || progress.half !== '' || progress.hidden.length > 0) return false;
  const state = scanPlain(progress.automaton, { text, state: progress.state });
  if (state === undefined || progress.automaton.depth[state] !== 0) return false;
  progress.state = state;
  return true;
}

/** Returns the state behind an ASCII text without a secret; `undefined` for every other text. Allocates nothing. */
function scanPlain(
  { step, match }: Automaton,
  { text, state }: { readonly text: string; state: number },
): number | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return undefined;
    state = step(state, code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
    if (match[state] !== -1) return undefined;
  }
  return state;
}

function endsInHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}

function feed(progress: Progress, chunk: string): string {
  const { step, depth, match } = progress.automaton;
  const visible = separateInvisible(chunk);
  const { length } = progress.held;
  const text = progress.held + visible.text;
  const folded = foldCase(visible.text);
  for (const { at, text: run } of visible.hidden) progress.hidden.push({ at: length + at, text: run });
  let out = '';
  let { state } = progress;
  for (let i = 0; i < folded.length; i++) {
    state = step(state, folded.charCodeAt(i));
    const end = length + i + 1;
    const found = match[state]!; // every state has an entry
    if (found !== -1) cover(progress, { ...progress.patterns[found]!, end });
    if (progress.spans.length > 0) out += pass(progress, { text, upTo: end - depth[state]! });
  }
  progress.state = state;
  return out + release(progress, { text, upTo: text.length - depth[state]! });
}

function cover(progress: Progress, { pattern, marker, end }: Pattern & { readonly end: number }): void {
  const start = end - pattern.length;
  if (start >= progress.from) {
    progress.spans = withSpan(progress.spans, { start, end, marker });
    return;
  }
  // It overlaps what has its marker already, and covers all that came since.
  progress.from = end;
  progress.spans = [];
}

/** Merges overlapping spans: the marker is that of the first one. */
function withSpan(spans: readonly Span[], added: Span): Span[] {
  const apart = spans.filter(({ end }) => end <= added.start);
  const joined = spans.slice(apart.length).reduce((one, { start, marker }) => ({
    start: Math.min(one.start, start),
    end: one.end,
    marker: start < one.start ? marker : one.marker,
  }), added);
  return [...apart, joined];
}

interface Piece {
  readonly text: string;
  /** The place that no match can reach back over any more. */
  readonly upTo: number;
}

/** Returns the text that ends in a marker. */
function pass(progress: Progress, { text, upTo }: Piece): string {
  let out = '';
  for (let [span] = progress.spans; span !== undefined && span.start < upTo; [span] = progress.spans) {
    out += write(progress, { text, upTo: span.start }) + span.marker;
    progress.from = span.end;
    progress.spans = progress.spans.slice(1);
  }
  return out;
}

/** Returns the held text up to a position, with its invisible characters; those before it were part of a secret. */
function write(progress: Progress, { text, upTo }: Piece): string {
  const { from, hidden } = progress;
  let out = '';
  let at = from;
  for (let next; (next = hidden[progress.hiddenDone]) !== undefined && next.at <= upTo; progress.hiddenDone++) {
    if (next.at < from) continue;
    out += text.slice(at, next.at) + next.text;
    at = next.at;
  }
  return out + text.slice(at, upTo);
}

/** Returns the text in which no match can start, and holds the rest. */
function release(progress: Progress, { text, upTo }: Piece): string {
  const { from, spans } = progress;
  const limit = Math.max(from, Math.min(upTo, spans[0]?.start ?? upTo));
  const out = upTo < from ? '' : write(progress, { text, upTo: limit });
  progress.held = text.slice(limit);
  progress.spans = spans.map(({ start, end, marker }) => ({ start: start - limit, end: end - limit, marker }));
  const hidden = progress.hidden.slice(progress.hiddenDone);
  progress.hidden = bounded(hidden.map(({ at, text: run }) => ({ at: at - limit, text: run })));
  progress.hiddenDone = 0;
  progress.from = 0;
  return out;
}

function bounded(hidden: Invisible[]): Invisible[] {
  return hidden.reduce((sum, { text }) => sum + text.length, 0) > maxHidden ? [] : hidden;
}

/** The patterns as a trie whose failures lead to the longest suffix that is a prefix too. State 0 is the root. */
export interface Automaton {
  /** Returns the state after one more code unit. */
  readonly step: (state: number, unit: number) => number;
  /** How many of the last units may belong to a pattern. */
  readonly depth: Int32Array;
  /** The longest pattern that ends in a state, by its index; -1 for none. */
  readonly match: Int32Array;
}

/** Builds the automaton; a repeated pattern has its first index. */
export function buildAutomaton(patterns: readonly string[]): Automaton {
  const trie = buildTrie(patterns);
  const fail = linkFailures(trie);
  return { step: (state, unit) => stepOf(trie, { fail, state, unit }), depth: trie.depth, match: trie.match };
}

interface Trie {
  /** How many states there are. */
  size: number;
  /** The children of the root for ASCII, where most steps start and end. */
  readonly ascii: Int32Array;
  /** The unit that leads into a state, its first child, and the next child of its parent; 0 for none. */
  readonly unit: Uint16Array;
  readonly child: Int32Array;
  readonly sibling: Int32Array;
  readonly depth: Int32Array;
  readonly match: Int32Array;
}

function buildTrie(patterns: readonly string[]): Trie {
  const most = patterns.reduce((sum, { length }) => sum + length, 1);
  const trie: Trie = {
    size: 1,
    ascii: new Int32Array(128),
    unit: new Uint16Array(most),
    child: new Int32Array(most),
    sibling: new Int32Array(most),
    depth: new Int32Array(most),
    match: new Int32Array(most).fill(-1),
  };
  patterns.forEach((pattern, index) => insert(trie, { pattern, index }));
  return trie;
}

function insert(trie: Trie, { pattern, index }: { pattern: string; index: number }): void {
  let state = 0;
  for (let i = 0; i < pattern.length; i++) {
    const unit = pattern.charCodeAt(i);
    state = childOf(trie, state, unit) || addChild(trie, { parent: state, unit });
  }
  if (trie.match[state] === -1) trie.match[state] = index;
}

function addChild(trie: Trie, { parent, unit }: { parent: number; unit: number }): number {
  const state = trie.size++;
  trie.unit[state] = unit;
  trie.depth[state] = trie.depth[parent]! + 1;
  trie.sibling[state] = trie.child[parent]!;
  trie.child[parent] = state;
  if (parent === 0 && unit < 128) trie.ascii[unit] = state;
  return state;
}

/** The hot path: `!` because every index is a state, and a check would be one more per unit. */
function childOf({ ascii, unit: units, child, sibling }: Trie, state: number, unit: number): number {
  if (state === 0 && unit < 128) return ascii[unit]!;
  let candidate = child[state]!;
  while (candidate !== 0 && units[candidate] !== unit) candidate = sibling[candidate]!;
  return candidate;
}

function stepOf(trie: Trie, { fail, state, unit }: { fail: Int32Array; state: number; unit: number }): number {
  for (let from = state;; from = fail[from]!) {
    const next = childOf(trie, from, unit);
    if (next !== 0 || from === 0) return next;
  }
}

/** Breadth first: the failure of a state is found from that of its parent, which is nearer to the root. */
function linkFailures(trie: Trie): Int32Array {
  const fail = new Int32Array(trie.size);
  const queue = new Int32Array(trie.size);
  let last = 1;
  for (let at = 0; at < last; at++) {
    const parent = queue[at]!;
    for (let state = trie.child[parent]!; state !== 0; state = trie.sibling[state]!) {
      queue[last++] = state;
      if (parent === 0) continue;
      const to = stepOf(trie, { fail, state: fail[parent]!, unit: trie.unit[state]! });
      fail[state] = to;
      if (trie.match[state] === -1) trie.match[state] = trie.match[to]!;
    }
  }
  return fail;
}
