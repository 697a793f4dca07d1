/** Sends a message to a run: to its inbox, or through the storage to the instance that executes it. */

import { fromData, PinnaceError, toData } from '../base/errors.ts';
import { createNews, watchKey } from '../log/bulletin.ts';
import type { LiveRun } from './live-run.ts';
import { readRun, type StoredRunOptions, watchRun } from './stored-run.ts';
import {
  messageKey,
  type MessageRecord,
  readRecord,
  recordChange,
  requireSameMessage,
  runEnded,
  type RunSignals,
  type Sending,
  type SentMessage,
} from './steering.ts';
import type { RunState } from './run-record.ts';

/** The run, and the way to the instance that executes it. */
interface Recipient extends Owner {
  readonly state: RunState['state'];
  /** The run, where this instance executes it. */
  readonly live: LiveRun | undefined;
}

interface Owner {
  readonly stored: StoredRunOptions;
  readonly signals: Pick<RunSignals, 'message'>;
}

/** Longer than it takes until a lost run is ended. */
const answerMs = 30_000;
/** The time after which a signal is repeated. */
const repeatMs = 5_000;

/**
 * Sends a message. Resolves when the instance that executes the run has accepted it.
 *
 * @throws PinnaceError as `Inbox.accept`; `unavailable` (`message_unconfirmed`) when that instance does not answer: the message may
 * have been accepted, and repeating it sends it once.
 */
export async function sendMessage(sending: Sending, { live, state, ...owner }: Recipient): Promise<SentMessage> {
  if (live && !live.takenOver) return await live.inbox.accept(sending.message);
  return state === 'running' ? await sendToOwner(sending, owner) : await sentBefore(sending, owner.stored);
}

async function sendToOwner(sending: Sending, { stored, signals }: Owner): Promise<SentMessage> {
  const { runId, message, signal } = sending;
  await request(sending, stored);
  let isLate = false;
  const news = createNews((onNews) => watchAnswer(sending, stored, onNews), signal);
  const timer = setTimeout(() => {
    isLate = true;
    news.stop();
  }, answerMs);
  try {
    for (let signaledAt = -Infinity;; await news.next()) {
      const sent = await answerOf(sending, stored);
      if (sent) return sent;
      if (isLate || signal?.aborted) throw unconfirmed();
      if (stored.now() - signaledAt < repeatMs) continue;
      signaledAt = stored.now();
      await signals.message(runId, message.id);
    }
  } finally {
    clearTimeout(timer);
    news.stop();
  }
}

/** Returns what became of a message to a run that has ended: it was delivered before, or is refused. */
async function sentBefore({ runId, message }: Sending, { storage }: StoredRunOptions): Promise<SentMessage> {
  const found = await readRecord(runId, message.id, storage);
  if (found?.record.state !== 'delivered') throw runEnded();
  requireSameMessage(found.record.message, message);
  return { messageId: message.id, state: 'delivered' };
}

/** Hands a message that another instance has written to the run here. Never rejects. */
export async function acceptRequested(
  { runId, messageId, inbox }: { readonly runId: string; readonly messageId: string } & Pick<LiveRun, 'inbox'>,
  { storage, ttlMs }: StoredRunOptions,
): Promise<void> {
  try {
    const found = await readRecord(runId, messageId, storage);
    if (found?.record.state !== 'requested') return;
    const { message } = found.record;
    await inbox.accept(message).catch(async (thrown: unknown) => {
      const refused = recordChange(runId, { message, state: 'refused', error: toData(thrown) }, ttlMs);
      await storage.commit([{ ...refused, ifVersion: found.version }]);
    });
  } catch {
    // The sender repeats its signal until it has an answer.
  }
}

/** Writes the message for the owner to read; one that was refused before is requested again. */
async function request({ runId, message }: Sending, { storage, ttlMs }: StoredRunOptions): Promise<void> {
  for (;;) {
    const found = await readRecord(runId, message.id, storage);
    if (found && found.record.state !== 'refused') return requireSameMessage(found.record.message, message);
    const record: MessageRecord = { message, state: 'requested' };
    const change = { ...recordChange(runId, record, ttlMs), ifVersion: found?.version ?? null };
    const { ok } = await storage.commit([change]);
    if (ok) return;
  }
}

function watchAnswer({ runId, message }: Sending, { storage }: StoredRunOptions, onNews: () => void): () => void {
  const stopRun = watchRun(runId, storage, onNews);
  const stopMessage = watchKey(storage, messageKey(runId, message.id), onNews);
  return () => {
    stopRun();
    stopMessage();
  };
}

/** The answer of the owner; `undefined` as long as there is none. */
async function answerOf({ runId, message }: Sending, stored: StoredRunOptions): Promise<SentMessage | undefined> {
  const head = await readRun(runId, stored); // before the record: an owner accepts nothing behind the end
  const found = await readRecord(runId, message.id, stored.storage);
  switch (found?.record.state) {
    case 'accepted':
    case 'delivered':
      return { messageId: message.id, state: found.record.state };
    case 'refused':
      throw fromData(found.record.error ?? toData(runEnded()));
    case 'undelivered':
      throw runEnded();
    default:
      if (head?.state.state !== 'running') throw runEnded();
      return undefined;
  }
}

function unconfirmed(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot confirm that the run has the message: the instance that executes it does not answer; send it again with the same id',
    { details: { reason: 'message_unconfirmed' } },
  );
}
