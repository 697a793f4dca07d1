/** Takes known secrets out of text, in every encoding, also where chunks cut them. The second net: the first is not to have them. */

import { PinnaceError } from './errors.ts';
import { type Automaton, buildAutomaton } from './redactor-automaton.ts';
import { patternsOf } from './redactor-patterns.ts';

/** Text that arrives piece by piece. */
export interface Redaction {
  /** Gives what is safe to pass on now; only what may be the beginning of a secret waits. */
  readonly push: (text: string) => string;
  /** Gives the rest. The next piece begins another text. */
  readonly end: () => string;
}

/** Takes secrets out. */
export interface Redactor {
  readonly text: (text: string) => string;
  readonly stream: () => TransformStream<string, string>;
  /** One for each text whose pieces are mixed with those of others, as the parts of a message are. */
  readonly begin: () => Redaction;
}

/** The shortest secret that can be told from ordinary text. */
const minSecretLength = 8;

/**
 * Gives a redactor; a secret becomes `[secret id]`. Build one for a set of secrets and keep it: it has no state of its own.
 *
 * @throws PinnaceError `invalid_argument` for a value shorter than 8 characters: ordinary text would go with it.
 * @example
 * createRedactor([{ id: 'github', value: 'ghp_16C7e42F292c6912' }]).text('token ghp_16C7e42F292c6912'); // token [secret github]
 */
export function createRedactor(secrets: readonly { readonly id: string; readonly value: string }[]): Redactor {
  const patterns = secrets.flatMap(toPatterns);
  const automaton = buildAutomaton(patterns.map(({ pattern }) => pattern));
  const begin = (): Redaction => beginRedaction({ automaton, patterns });
  return {
    begin,
    text(text) {
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
  if (value.length < minSecretLength) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot redact secret "${id}": its value must have at least ${minSecretLength} characters`,
      { details: { reason: 'secret_too_short' } },
    );
  }
  return patternsOf(value).map((pattern) => ({ pattern, marker: `[secret ${id}]` }));
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

/** Where a text stands. Positions count from the beginning of what is held. */
interface Progress {
  readonly automaton: Automaton;
  readonly patterns: readonly Pattern[];
  state: number;
  held: string;
  /** Where what was not passed on begins. */
  from: number;
  spans: readonly Span[];
}

type Matcher = Pick<Progress, 'automaton' | 'patterns'>;

function beginRedaction(matcher: Matcher): Redaction {
  const start = (): Progress => ({ ...matcher, state: 0, held: '', from: 0, spans: [] });
  let progress = start();
  return {
    push: (text) => feed(progress, text),
    end() {
      const { held } = progress;
      const out = pass(progress, { text: held, upTo: Infinity }) + held.slice(progress.from);
      progress = start();
      return out;
    },
  };
}

function feed(progress: Progress, chunk: string): string {
  const { step, depth, match } = progress.automaton;
  const text = progress.held + chunk;
  let out = '';
  let { state } = progress;
  for (let i = progress.held.length; i < text.length; i++) {
    state = step(state, text.charCodeAt(i));
    const found = match[state]!; // every state has an entry
    if (found !== -1) cover(progress, { ...progress.patterns[found]!, end: i + 1 });
    if (progress.spans.length > 0) out += pass(progress, { text, upTo: i + 1 - depth[state]! });
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

/** Spans that overlap are one: the marker is that of the one that began first. */
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

/** Gives what ends in a marker. */
function pass(progress: Progress, { text, upTo }: Piece): string {
  let out = '';
  for (let [span] = progress.spans; span !== undefined && span.start < upTo; [span] = progress.spans) {
    out += text.slice(progress.from, span.start) + span.marker;
    progress.from = span.end;
    progress.spans = progress.spans.slice(1);
  }
  return out;
}

/** Gives the text that no match can begin in, and holds the rest. */
function release(progress: Progress, { text, upTo }: Piece): string {
  const { from, spans } = progress;
  const limit = Math.max(from, wholeCharacters(text, Math.min(upTo, spans[0]?.start ?? upTo)));
  progress.held = text.slice(limit);
  progress.spans = spans.map(({ start, end, marker }) => ({ start: start - limit, end: end - limit, marker }));
  progress.from = 0;
  return text.slice(from, limit);
}

/** No cut goes between the two halves of a character. */
function wholeCharacters(text: string, limit: number): number {
  const isHalf = limit > 0 && (text.charCodeAt(limit - 1) & 0xfc00) === 0xd800;
  return isHalf ? limit - 1 : limit;
}
