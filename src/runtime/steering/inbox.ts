/**
 * The messages to one run, at the instance that executes it. This instance alone accepts messages and ends the run, so no message can
 * be accepted behind the end, and a step that finds nothing waiting has read nothing.
 */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Change } from '../../contracts/storage.ts';
import { requireSameMessage, runEnded, type SteeringMessage } from './message.ts';
import { type MessageRecord, recordChange } from './message-record.ts';

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
export interface InboxOptions {
  readonly runId: string;
  readonly ttlMs: number;
  readonly now: () => number;
  /** Commits the run's log, and the changes with it. Rejects with `conflict` when another instance has the run. */
  readonly commit: (changes: readonly Change[]) => Promise<void>;
}

interface Entry {
  readonly message: SteeringMessage;
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
    const recorded = this.#options.commit([this.#change({ message, state: 'accepted' })]).catch(toRefusal);
    recorded.catch(() => undefined); // `accept` rejects with it
    const entry: Entry = { message, state: 'accepted', recorded };
    this.#entries.set(message.id, entry);
    this.#waiting.push(entry);
    return entry;
  }

  #change({ message, state }: Pick<Entry, 'message' | 'state'>): Change {
    return recordChange(this.#options.runId, { message, state }, this.#options.ttlMs);
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
