/** The messages of a stored chat. The answer of a run is added when the run has ended, here or by the next reader. */

import { PinnaceError } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Entry } from '../../contracts/storage.ts';
import { readEvents, readRun } from '../log/stored-run.ts';
import { type ChatParts, lifetime, type MessageEntry } from './chat-record.ts';
import { foldMessage } from './fold-message.ts';
import { fitMessage } from './fit-message.ts';

/** A stored message. */
export interface Stored {
  readonly key: Key;
  /** From 1. */
  readonly number: number;
  readonly entry: MessageEntry;
  readonly version: string;
  /** Absent where a new answer is not there yet, or was lost with its instance and its log. */
  readonly message?: UIMessage | undefined;
  /** The run that is writing it now. */
  readonly runId?: string | undefined;
}

/** Reads one entry, and adds the answer of a run that has ended. */
export async function resolveEntry(parts: ChatParts, { key, value, version }: Entry): Promise<Stored> {
  const entry = value as MessageEntry; // only this folder writes it
  const facts = { key, number: Number(key.at(-1)), version };
  const runId = entry.runIds?.at(-1);
  if (!entry.pending || runId === undefined) return { ...facts, entry, message: entry.message };
  const head = await readRun(runId, { ...parts, storageGraceMs: parts.limits.storageGraceMs });
  if (head?.state.state === 'running') return { ...facts, entry, message: entry.message, runId };
  return await addAnswer(parts, { facts, entry, runId });
}

async function addAnswer(
  parts: ChatParts,
  { facts, entry, runId }: {
    readonly facts: Pick<Stored, 'key' | 'number' | 'version'>;
    readonly entry: MessageEntry;
    readonly runId: string;
  },
): Promise<Stored> {
  const chunks = await readChunks(parts, runId);
  const message = chunks.length === 0 ? entry.message : fitMessage(foldMessage(chunks, entry.message));
  const { pending: _, message: __, ...rest } = entry;
  const value: MessageEntry = { ...rest, ...(message && { message }) };
  const { key, version } = facts;
  const adding = parts.storage.commit([{ key, value, ifVersion: version, ...lifetime(parts, entry.at) }]);
  const written = await adding.catch((error: unknown) => {
    if (!isFull(error)) throw error;
    return { ok: false as const }; // a full store can still be read: a later reader adds the answer
  });
  // Otherwise another reader has added the same, or the entry was deleted or replaced: then this is what it was.
  return { ...facts, entry: value, message, ...(written.ok && { version: written.version }) };
}

function isFull(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full';
}

async function readChunks({ storage }: ChatParts, runId: string): Promise<readonly UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for (let after = 0;;) {
    const events = await readEvents(runId, after, storage);
    if (events.length === 0) return chunks;
    for (const { text } of events) chunks.push(JSON.parse(text) as UIMessageChunk); // `record` alone writes them
    after = events.at(-1)?.seq ?? after;
  }
}

/** Adds the answer of this run, if its place is still there, and returns it. */
export async function settleAnswer(
  parts: ChatParts,
  { key, runId }: { key: Key; runId: string },
): Promise<UIMessage | undefined> {
  const entry = await parts.storage.get(key);
  if (!entry || (entry.value as MessageEntry).runIds?.at(-1) !== runId) return undefined;
  return (await resolveEntry(parts, entry)).message;
}
