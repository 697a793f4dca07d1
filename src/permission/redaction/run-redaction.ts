/** Redacts every secret of a run in what goes to the client, the model and logs. */

import type { Secret } from '../../base/secret.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type Emit, unobserved } from '../../events/events.ts';
import type { Payload, Span, SpanContext } from '../../events/span.ts';
import { createRedactor, isRedactable, type Redaction, type Redactor } from './redactor.ts';

/** Takes the run's secrets out. Without secrets it costs nothing. */
export interface RunRedaction {
  /** From now on this secret is taken out as well. */
  add(secret: Secret): void;
  /** Plain text, as an error's. */
  text(text: string): string;
  /** Data, as a tool's output. */
  data<T>(data: T): T;
  /** The chunks to send for this one: pieces of a text may have to wait for the next. */
  chunks(chunk: UIMessageChunk): readonly UIMessageChunk[];
  /** What still waits, when the run ends in the middle of a text. */
  flush(): readonly UIMessageChunk[];
}

type DeltaChunk = Extract<UIMessageChunk, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>;

interface OpenText {
  readonly redaction: Redaction;
  /** The chunk with another piece of text. */
  readonly withText: (text: string) => UIMessageChunk;
}

/** Creates a redaction without secrets. */
export function createRunRedaction(): RunRedaction {
  const secrets = new Map<string, Secret>();
  const open = new Map<string, OpenText>();
  let redactor: Redactor | undefined;
  const current = (): Redactor | undefined => {
    if (secrets.size === 0) return undefined;
    return redactor ??= redactorOf([...secrets.values()]);
  };
  const text = (plain: string): string => current()?.text(plain) ?? plain;
  const whole = <T>(data: T): T => {
    const redact = current();
    return redact ? redactData(data, redact.text) : data;
  };
  const close = (key: string): readonly UIMessageChunk[] => {
    const found = open.get(key);
    open.delete(key);
    const rest = found?.redaction.end() ?? '';
    return found && rest !== '' ? [found.withText(rest)] : [];
  };
  const openText = (chunk: DeltaChunk, redact: Redactor): OpenText => {
    const key = keyOf(chunk);
    let known = open.get(key);
    if (!known) {
      known = { redaction: redact.begin(), withText: (part) => withPiece(chunk, part) };
      open.set(key, known);
    }
    return known;
  };
  const piece = (chunk: DeltaChunk, redact: Redactor): readonly UIMessageChunk[] => {
    const known = openText(chunk, redact);
    const delta = chunk.type === 'tool-input-delta' ? chunk.inputTextDelta : chunk.delta;
    const safe = known.redaction.push(delta);
    if (safe === delta) return [chunk];
    return safe === '' ? [] : [known.withText(safe)];
  };
  return {
    text,
    data: whole,
    add(secret) {
      const value = secret.reveal();
      if (!isRedactable(value) || secrets.has(value)) return; // the resolver emits an event for such a value
      secrets.set(value, secret);
      redactor = undefined;
    },
    chunks(chunk) {
      const redact = current();
      if (!redact) return [chunk];
      if (isDelta(chunk)) return piece(chunk, redact);
      return [...close(keyOf(chunk)), whole(chunk)];
    },
    flush: () => [...open.keys()].flatMap(close),
  };
}

/** Redactors of one secret, as most runs have: all encodings of a value are written out for each. */
const ofOne = new WeakMap<Secret, Redactor>();

function redactorOf(secrets: readonly Secret[]): Redactor {
  const [only] = secrets;
  const known = only && secrets.length === 1 ? ofOne.get(only) : undefined;
  const redactor = known ?? createRedactor(secrets.map((secret) => ({ id: secret.id, value: secret.reveal() })));
  if (only && secrets.length === 1) ofOne.set(only, redactor);
  return redactor;
}

/** Redacts the run's secrets in its events: a tool may have put one into an id. */
export function redactedEmit(emit: Emit, { text }: Pick<RunRedaction, 'text'>): Emit {
  if (emit === unobserved) return emit;
  return (event) => {
    const [id, payloadSummary] = [text(event.target.id), text(event.payloadSummary)];
    const isClean = id === event.target.id && payloadSummary === event.payloadSummary;
    emit(isClean ? event : { ...event, target: { ...event.target, id }, payloadSummary });
  };
}

function isDelta(chunk: UIMessageChunk): chunk is DeltaChunk {
  return chunk.type === 'text-delta' || chunk.type === 'reasoning-delta' || chunk.type === 'tool-input-delta';
}

function withPiece(chunk: DeltaChunk, text: string): UIMessageChunk {
  return chunk.type === 'tool-input-delta' ? { ...chunk, inputTextDelta: text } : { ...chunk, delta: text };
}

/** Names the text that a chunk adds to or ends. */
function keyOf(chunk: UIMessageChunk): string {
  switch (chunk.type) {
    case 'text-delta':
    case 'text-end':
      return `text ${chunk.id}`;
    case 'reasoning-delta':
    case 'reasoning-end':
      return `reasoning ${chunk.id}`;
    case 'tool-input-delta':
    case 'tool-input-available':
    case 'tool-input-error':
      return `input ${chunk.toolCallId}`;
    default:
      return '';
  }
}

/** Returns the data without secrets, with the same shape: in values, in field names, and in numbers, which become text. `data` must be JSON. */
export function redactData<T>(data: T, redact: (text: string) => string): T {
  return hasNoSecret(data, redact) ? data : rewrite(data, redact);
}

/** Whether the data contains no secret. Returns `false` for an object with `toJSON`, whose text is known only later. */
function hasNoSecret(data: unknown, redact: (text: string) => string): boolean {
  if (typeof data === 'string') return redact(data) === data;
  if (typeof data === 'number') return redact(String(data)) === String(data);
  if (typeof data !== 'object' || data === null) return true;
  if (Array.isArray(data)) return data.every((item) => hasNoSecret(item, redact));
  if ('toJSON' in data) return false;
  for (const name of Object.keys(data)) {
    if (redact(name) !== name || !hasNoSecret((data as Readonly<Record<string, unknown>>)[name], redact)) return false;
  }
  return true;
}

function rewrite<T>(data: T, redact: (text: string) => string): T {
  let changed = false;
  const safe = <V>(value: V): V | string => {
    const text = String(value);
    const safeText = redact(text);
    if (safeText === text) return value;
    changed = true;
    return safeText;
  };
  const text = JSON.stringify(data, (_, value: unknown) => {
    if (typeof value === 'string' || typeof value === 'number') return safe(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(([name, inner]) => [safe(name), inner] as const);
    return changed ? Object.fromEntries(entries) : value;
  });
  return changed ? JSON.parse(text) as T : data; // the same but for texts
}

type DataRedaction = Pick<RunRedaction, 'data'>;

/** Redacts what is emitted in a span context that was opened without knowing the run's secrets, and in all spans within it. */
export function redactedContext(context: SpanContext, redaction: DataRedaction): SpanContext {
  return {
    traceId: context.traceId,
    start: (inner) => redactedSpan(context.start(redacted(inner, redaction)), redaction),
    emit: (event) => context.emit(redacted(event, redaction)),
  };
}

function redactedSpan(span: Span, redaction: DataRedaction): Span {
  return {
    ...redactedContext(span, redaction),
    spanId: span.spanId,
    note: (payload) => span.note(redaction.data(payload)),
    end: (how) => span.end(redacted(how, redaction)),
  };
}

/** A payload that is computed only for a sink stays so. */
function redacted<Facts extends { readonly payload?: Payload }>(facts: Facts, redaction: DataRedaction): Facts {
  const { payload, ...rest } = facts;
  const safe = redaction.data(rest);
  if (payload === undefined) return safe as Facts; // the rest is all there is
  const clean: Payload = typeof payload === 'function' ? () => redaction.data(payload()) : redaction.data(payload);
  return { ...safe, payload: clean } as Facts; // as it was given
}
