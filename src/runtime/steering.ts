/** Hands the messages that arrive while a run works to its model. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { SpanContext, SpanEnd } from '../events/span.ts';
import * as v from 'valibot';
import { canonicalJson, readData } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import type { Key } from '../base/key.ts';
import type { Change, Storage, Watchable } from '../contracts/storage.ts';
import { createBulletin } from '../log/bulletin.ts';

/** The messages to a running loop. */
export interface Steering {
  /** Appends what has arrived to the prompt. Returns the chunks that show it; their record is the delivery. */
  deliver(prompt: LanguageModelV4Message[]): readonly UIMessageChunk[];
  /** Whether a step follows the last one for messages that wait. Otherwise the run accepts none from now on. */
  continues(isPossible: boolean): boolean;
  /** Accepts nothing any more. Returns the chunks of what was accepted and not delivered. */
  close(): readonly UIMessageChunk[];
}

export function createSteering(
  inbox: Inbox,
  { runId, spans, metrics }: {
    readonly runId: string;
    readonly spans: { readonly current: SpanContext };
    readonly metrics: Pick<Metrics, 'count'>;
  },
): Steering {
  const observe = ({ id: messageId }: SteeringMessage, state: string, how: Pick<SpanEnd, 'status' | 'error'>): void => {
    metrics.count('pinnace_steering_messages_total', { state });
    const target = { type: 'run', id: runId };
    spans.current.emit({ action: 'run.message', target, ...how, payload: { messageId, state } });
  };
  return {
    deliver(prompt) {
      if (inbox.isEmpty || awaitsProvider(prompt)) return none;
      dropEmptyAnswer(prompt);
      return inbox.take().map((message) => {
        prompt.push({ role: 'user', content: message.parts.map(({ text }) => ({ type: 'text', text })) });
        observe(message, 'delivered', { status: 'ok' });
        return deliveredChunk(message);
      });
    },
    continues(isPossible) {
      if (isPossible) return inbox.staysOpen();
      inbox.close();
      return false;
    },
    close: () =>
      inbox.close().map((message) => {
        observe(message, 'undelivered', { status: 'error', error: toData(runEnded()) });
        return undeliveredChunk(message);
      }),
  };
}

const none: readonly UIMessageChunk[] = [];

/** Whether a call of the provider's own tool has no result yet: nothing may come between the two. */
function awaitsProvider(prompt: readonly LanguageModelV4Message[]): boolean {
  const last = prompt.findLast(({ role }) => role === 'assistant' || role === 'user');
  if (last?.role !== 'assistant') return false;
  const settled = new Set(last.content.flatMap((part) => part.type === 'tool-result' ? [part.toolCallId] : []));
  return last.content.some((part) =>
    part.type === 'tool-call' && part.providerExecuted === true && !settled.has(part.toolCallId)
  );
}

/** Providers refuse a message without content before another one. */
function dropEmptyAnswer(prompt: LanguageModelV4Message[]): void {
  const last = prompt.at(-1);
  if (last?.role === 'assistant' && last.content.length === 0) prompt.pop();
}

/** The most UTF-16 code units of a message's text. */
export const maxMessageLength = 32_768;

const MessageId = v.pipe(
  v.string(),
  v.regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits and _ . : -'),
);

/** The schema of a message; a user message of the AI SDK fits. */
export const SteeringMessage = v.object({
  /** Repeating the id sends nothing twice. */
  id: v.optional(MessageId),
  role: v.optional(v.literal('user', 'must be "user"')),
  parts: v.pipe(
    v.array(
      v.object({
        type: v.literal('text', 'must be "text": send files with the next message of the chat'),
        text: v.string(),
      }),
    ),
    v.minLength(1),
    v.maxLength(20),
  ),
});

/** A message as callers write it. */
export interface SteeringMessageInput {
  /** Names the message within its run, so that a repeated request sends it once; random when absent. */
  readonly id?: string | undefined;
  readonly role?: 'user' | undefined;
  readonly parts: readonly SteeringPart[];
}

/** A part of a message: text. */
interface SteeringPart {
  readonly type: 'text';
  readonly text: string;
}

/** A checked message. */
export interface SteeringMessage {
  readonly id: string;
  readonly parts: readonly SteeringPart[];
}

/**
 * Parses a message from anywhere.
 *
 * @throws PinnaceError `invalid_argument` for another shape, for parts other than text, and for text that is blank or too long.
 */
export function parseSteeringMessage(data: unknown): SteeringMessage {
  const { id = crypto.randomUUID(), parts: given } = parse(SteeringMessage, readData(data), { what: 'the message' });
  const parts = given.filter(({ text }) => text.trim() !== '');
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  if (parts.length === 0) throw refused('its text is empty', 'message_empty');
  if (length > maxMessageLength) {
    throw refused(`its text is ${length} long, ${maxMessageLength} is allowed`, 'message_too_large');
  }
  return { id, parts };
}

/** @throws PinnaceError `conflict` when two different messages share an id. */
export function requireSameMessage(known: SteeringMessage, given: SteeringMessage): void {
  if (canonicalJson(known.parts) === canonicalJson(given.parts)) return;
  throw new PinnaceError('conflict', 'Cannot send the message: another message of this run has its id; use a new id', {
    retryable: false,
    details: { reason: 'message_id_reused' },
  });
}

/** The error for a message to a run that takes none any more. */
export function runEnded(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot send the message: the run has ended or waits for a person; send it as the next message of the chat',
    { retryable: false, details: { reason: 'run_ended' } },
  );
}

/** The error for a message to a run that follows a plan. */
export function runFollowsPlan(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot send the message: the run follows a plan; send it after the run',
    { retryable: false, details: { reason: 'run_follows_plan' } },
  );
}

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the message: ${why}`, { details: { reason } });
}

/**
 * A message and what became of it. `requested`: an instance that does not execute the run has written it, and its owner has not read
 * it. `accepted`: it waits for the next step.
 */
export interface MessageRecord {
  readonly message: SteeringMessage;
  readonly state: 'requested' | 'accepted' | 'delivered' | 'undelivered' | 'refused';
  /** Why it was refused. */
  readonly error?: ErrorData;
  /** Its place among those that the run has accepted. */
  readonly order?: number;
}

/** The key of a message. */
export function messageKey(runId: string, messageId: string): Key {
  return [...messagesKey(runId), messageId];
}

/** The change that writes a record. */
export function recordChange(runId: string, record: MessageRecord, ttlMs: number): Change {
  return { key: messageKey(runId, record.message.id), value: record, ttlMs };
}

export async function readRecord(
  runId: string,
  messageId: string,
  storage: Pick<Storage, 'get'>,
): Promise<{ readonly record: MessageRecord; readonly version: string } | undefined> {
  const found = await storage.get(messageKey(runId, messageId));
  return found && { record: found.value as MessageRecord, version: found.version }; // only `recordChange` writes it
}

/** The messages that were accepted, and that no step has taken. */
export async function waitingMessages(runId: string, storage: Storage): Promise<readonly SteeringMessage[]> {
  const records = await acceptedMessages(runId, storage);
  return records.flatMap(({ message, state }) => state === 'accepted' ? [message] : []);
}

/** The messages that the run has accepted, also those that it has delivered, in their order. */
export async function acceptedMessages(runId: string, storage: Storage): Promise<readonly MessageRecord[]> {
  const found = await storage.list({ prefix: messagesKey(runId), limit: 1000 });
  const records = found.map(({ value }) => value as MessageRecord); // as in `readRecord`
  return records.filter(({ state }) => state === 'accepted' || state === 'delivered')
    .toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
}

/** The chunk that shows a message where the model receives it. */
function deliveredChunk({ id, parts }: SteeringMessage): UIMessageChunk {
  return { type: 'steering-message', id, parts: [...parts] };
}

/** The chunk that says that a message did not reach the model. */
export function undeliveredChunk({ id }: SteeringMessage): UIMessageChunk {
  return { type: 'data-steering', id, data: { messageId: id, state: 'undelivered' } };
}

function messagesKey(runId: string): Key {
  return ['run', runId, 'message'];
}

/** The most messages that wait for one step. */
export const maxWaiting = 16;
/** The most messages that a run accepts a minute, and in a burst. */
const perMinute = 60;

/** A message that was sent, and whether the model has it. */
export interface SentMessage {
  readonly messageId: string;
  /** `accepted`: it waits for the agent's next step. */
  readonly state: 'accepted' | 'delivered';
}

/** The messages to a run. */
export interface Inbox {
  /**
   * Accepts a message, and resolves when that is recorded. Repeating it changes nothing.
   *
   * @throws PinnaceError `conflict` (`run_ended`, `message_id_reused`), `rate_limited`.
   */
  accept(message: SteeringMessage): Promise<SentMessage>;
  /** Whether no message waits to be taken. */
  readonly isEmpty: boolean;
  /** The messages since the last call, in the order in which they were accepted. */
  take(): readonly SteeringMessage[];
  /** Whether messages wait to be taken. When none does, nothing is accepted any more. */
  staysOpen(): boolean;
  /** Accepts nothing any more. Returns what no step has shown. */
  close(): readonly SteeringMessage[];
  /** The changes that belong into the commit of this chunk. */
  changesOf(chunk: UIMessageChunk): readonly Change[] | undefined;
}

/** What an inbox needs. */
interface InboxOptions {
  readonly runId: string;
  readonly ttlMs: number;
  readonly now: () => number;
  /** Commits the run's log, and the changes with it. Rejects with `conflict` when another instance has the run. */
  readonly commit: (changes: readonly Change[]) => Promise<void>;
  /** What an earlier owner of the run has accepted. */
  readonly messages?: readonly MessageRecord[];
}

interface Entry {
  readonly message: SteeringMessage;
  readonly order: number;
  state: Exclude<MessageRecord['state'], 'requested' | 'refused'>;
  readonly recorded: Promise<void>;
}

/** Creates the inbox of a run. */
export function createInbox(options: InboxOptions): Inbox {
  return new OwnInbox(options);
}

class OwnInbox implements Inbox {
  readonly #options: InboxOptions;
  readonly #entries = new Map<string, Entry>();
  #waiting: Entry[] = [];
  #isClosed = false;
  #tokens = perMinute;
  #at = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
    for (const { message, state } of options.messages ?? []) {
      if (state === 'requested' || state === 'refused') continue;
      const entry: Entry = { message, state, order: this.#entries.size, recorded: Promise.resolve() };
      this.#entries.set(message.id, entry);
      if (state === 'accepted') this.#waiting.push(entry);
    }
  }

  async accept(message: SteeringMessage): Promise<SentMessage> {
    const known = this.#entries.get(message.id);
    if (known) requireSameMessage(known.message, message);
    const entry = known ?? this.#add(message);
    await entry.recorded;
    if (entry.state === 'undelivered') throw runEnded();
    return { messageId: message.id, state: entry.state };
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  take(): readonly SteeringMessage[] {
    return this.#waiting.splice(0).map(({ message }) => message);
  }

  staysOpen(): boolean {
    this.#isClosed ||= this.isEmpty;
    return !this.#isClosed;
  }

  close(): readonly SteeringMessage[] {
    this.#isClosed = true;
    this.#waiting = [];
    return [...this.#entries.values()].filter(({ state }) => state === 'accepted').map(({ message }) => message);
  }

  changesOf(chunk: UIMessageChunk): readonly Change[] | undefined {
    const { type } = chunk;
    if (type !== 'steering-message' && type !== 'data-steering') return undefined;
    const entry = this.#entries.get(chunk.id ?? '');
    if (!entry) return undefined;
    entry.state = type === 'steering-message' ? 'delivered' : 'undelivered';
    return [this.#change(entry)];
  }

  #add(message: SteeringMessage): Entry {
    if (this.#isClosed) throw runEnded();
    this.#requireRoom();
    const order = this.#entries.size;
    const recorded = this.#options.commit([this.#change({ message, state: 'accepted', order })]).catch(toRefusal);
    recorded.catch(() => undefined); // `accept` rejects with it
    const entry: Entry = { message, order, state: 'accepted', recorded };
    this.#entries.set(message.id, entry);
    this.#waiting.push(entry);
    return entry;
  }

  #change({ message, state, order }: Pick<Entry, 'message' | 'state' | 'order'>): Change {
    return recordChange(this.#options.runId, { message, state, order }, this.#options.ttlMs);
  }

  #requireRoom(): void {
    const time = this.#options.now();
    const filled = Math.min(perMinute, this.#tokens + (Math.max(0, time - this.#at) * perMinute) / 60_000);
    if (this.#waiting.length >= maxWaiting) throw full('as many messages wait for its next step as may', 1000);
    if (filled < 1) {
      throw full(`it accepts ${perMinute} messages a minute`, Math.ceil(((1 - filled) * 60_000) / perMinute));
    }
    [this.#tokens, this.#at] = [filled - 1, time];
  }
}

function full(why: string, retryAfterMs: number): PinnaceError {
  return new PinnaceError('rate_limited', `Cannot send the message to the run now: ${why}; try again later`, {
    retryAfterMs,
    details: { reason: 'too_many_messages' },
  });
}

/** A log that another instance has taken over is the log of an ended run. */
function toRefusal(error: unknown): never {
  throw error instanceof PinnaceError && error.code === 'conflict' ? runEnded() : error;
}

/** A run to stop, or one with a message that waits to be accepted. */
type RunSignal = string | { readonly runId: string; readonly messageId: string };

/** Signals about runs. */
export interface RunSignals {
  readonly cancel: (runId: string) => Promise<void>;
  readonly message: (runId: string, messageId: string) => Promise<void>;
  /** The first run subscribes, so that an idle runtime watches nothing. */
  readonly subscribe: () => void;
}

/** What an instance does at a signal. */
interface SignalListener {
  readonly onCancel: (runId: string) => void;
  readonly onMessage: (runId: string, messageId: string) => void;
}

/** Opens the signals of a storage, until `closing` aborts. */
export function createRunSignals(
  storage: Storage & Partial<Watchable>,
  { onCancel, onMessage }: SignalListener,
  closing: AbortSignal,
): RunSignals {
  const signals = createBulletin<RunSignal>(storage, 'cancel');
  let subscribed = false;
  return {
    cancel: (runId) => signals.publish(runId),
    message: (runId, messageId) => signals.publish({ runId, messageId }),
    subscribe() {
      if (subscribed) return;
      subscribed = true;
      signals.subscribe((signal) => {
        if (typeof signal === 'string') onCancel(signal);
        else onMessage(signal.runId, signal.messageId);
      }, closing);
    },
  };
}

/** A message and its run. */
export interface Sending {
  readonly runId: string;
  readonly message: SteeringMessage;
  /** Aborts the wait for the answer; the message may be accepted after it. */
  readonly signal?: AbortSignal | undefined;
}
