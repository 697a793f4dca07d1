/**
 * The records of a program: what it was started with, its calls, and their outcomes in the order of their delivery. The journal is
 * created with the first side effect or the first question to a person, and holds everything before it.
 */

import type { PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import type { Key } from '../base/key.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Delivery } from '../contracts/sandbox.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { commitOwn } from '../log/commits.ts';
import {
  creation,
  headKey,
  type JournalHead,
  readItems,
  readJournal,
  type StoredJournal,
} from '../log/journal-record.ts';
import { createCommitTick, type Journal, openJournal } from '../log/journal.ts';
import type { SpentDecision, Unspendable } from '../permission/interruption.ts';
import { type Label, parseLabel, unlabelled } from '../permission/label.ts';
import type { LostProgram, ProgramHome } from '../runtime/run-context.ts';
import { type ForkedFrom, type RecordedChunk, runPrefix, type RunState } from '../runtime/run-record.ts';
import { codeRunId } from '../tools/run-scope.ts';
import type { ProgramAct, ProgramSource } from '../tools/tool.ts';

/** The state of a program, in the head of its journal. */
export interface ProgramState {
  /** 2: the program of a guarded agent, with acts and labels. */
  readonly v: 1 | 2;
  /** Random: the commit that created the journal recognizes itself by it. */
  readonly mark: string;
  readonly toolCallId: string;
  readonly tenant: string;
  /** Whose program it is. Absent in records of version 0.2: that of the run in which it started. */
  readonly subject?: string;
  readonly chatId: string;
  readonly agentId: string;
  readonly revision: number;
  readonly toolSetDigest: string;
  readonly codeDigest: string;
  readonly timeZone: string;
  readonly seed: number;
  /** The time that the program sees, in milliseconds since 1970. */
  readonly at: number;
  readonly status: 'running' | 'suspended' | 'ended';
  /** The run that executes it, or has suspended it. Absent in records of earlier versions. */
  readonly driver?: string;
  /** Names its handles. */
  readonly ordinal?: number;
  /** A person has approved what it will do. */
  readonly approved?: true;
}

/** A delivery with the value of its handle, and the label of that. */
export type Outcome =
  | (Extract<Delivery, { readonly output: unknown }> & { readonly handle?: string; readonly label?: Label })
  | Extract<Delivery, { readonly ok: false }>;

/** An outcome as it was delivered. */
type OutItem = { readonly t: 'out'; readonly digest: string } & Outcome;

/** In a journal, a label is written where it is first used; after that it is the number of that place. */
type StoredOut = Omit<OutItem, 'label'> & { readonly label?: unknown };

/** A call that waits for a person. */
interface AskItem {
  readonly t: 'ask';
  readonly n: number;
  readonly tool: string;
  readonly digest: string;
  readonly approvalId: string;
  /** SHA-256 of the input with the values in it, and of their labels. */
  readonly bound?: string | undefined;
  /** What a person has made of the input that the code has passed, where another one is asked about that. */
  readonly input?: unknown;
}

/** The input of a person in place of that of the code. */
export interface ChangedInput {
  readonly input: unknown;
}

/** An item of the journal. `begin` is committed before a side effect, with the digest of its tool and input. */
type ProgramItem =
  | { readonly t: 'code'; readonly code: string; readonly acts?: readonly ProgramAct[] | undefined }
  | { readonly t: 'begin'; readonly n: number; readonly digest: string; readonly input?: unknown }
  | AskItem
  | StoredOut
  | { readonly t: 'end'; readonly ok: boolean };

/** Returns the id of a program in its run: models use the id of a call again in a later step. */
export function programId(toolCallId: string, ordinal: number): string {
  return sha256Sync(ordinal === 0 ? toolCallId : `${toolCallId}\n${ordinal}`);
}

/** The keys of a program's journal. */
export function programPrefix(runId: string, id: string): Key {
  return [...runPrefix(runId), 'program', id];
}

/** What a program did before, by the numbers of its calls. */
export interface ProgramPast extends ProgramSource {
  /** In the order of delivery. */
  readonly outs: readonly OutItem[];
  /** The digests of side effects that were started. */
  readonly begun: ReadonlyMap<number, string>;
  readonly asked: ReadonlyMap<number, AskItem>;
  /** The inputs that people have changed, of calls that were started or asked about again. */
  readonly changed: ReadonlyMap<number, ChangedInput>;
  /** The table of its labels. */
  readonly labels: readonly Label[];
}

/** Reads the items of a journal. */
export async function readPast(storage: Storage, prefix: Key): Promise<ProgramPast> {
  let source: ProgramSource = { code: '' };
  const outs: OutItem[] = [];
  const labels: Label[] = [];
  const begun = new Map<number, string>();
  const asked = new Map<number, AskItem>();
  const changed = new Map<number, ChangedInput>();
  for (let after = 0;;) {
    const page = await readItems(storage, prefix, after);
    for (const { item } of page) {
      const read = JSON.parse(item) as ProgramItem; // only the program's journal writes it
      if (read.t === 'code') source = { code: read.code, ...(read.acts && { acts: read.acts }) };
      else if (read.t === 'out') outs.push(withLabel(read, labels));
      else if (read.t === 'begin') begun.set(read.n, read.digest);
      else if (read.t === 'ask') asked.set(read.n, read);
      if ((read.t === 'begin' || read.t === 'ask') && 'input' in read) changed.set(read.n, { input: read.input });
    }
    const last = page.at(-1);
    if (!last) return { ...source, outs, begun, asked, changed, labels };
    after = last.seq;
  }
}

/** Reads the label of an outcome. What has a handle and no label that can be read is anybody's. */
function withLabel({ label, ...out }: StoredOut, labels: Label[]): OutItem {
  if (!('handle' in out) && label === undefined) return out as OutItem; // only the label was taken out
  if (typeof label === 'number') return { ...out, label: labels[label] ?? unlabelled } as OutItem;
  labels.push(parseLabel(label));
  return { ...out, label: labels.at(-1) } as OutItem;
}

/** The journal of a running program. */
export interface ProgramJournal {
  /** Adds an outcome, before it is delivered. It is durable before the next side effect starts. */
  out(outcome: Outcome, digest: string): void;
  /** Commits the start of a side effect. Rejects when the journal is another owner's, or the storage stays away. */
  begin(n: number, digest: string, changed?: ChangedInput): Promise<void>;
  /** Commits the calls that wait for a person, with the records of the questions. */
  suspend(asks: readonly AskItem[], changes: readonly Change[]): Promise<void>;
  /** Commits the end of a program whose journal was created. Never rejects. */
  end(ok: boolean): Promise<void>;
}

/** What a journal needs. */
interface ProgramJournalOptions {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly now: () => number;
  readonly ttlMs: number;
  readonly graceMs: number;
  readonly state: ProgramState;
  readonly source: ProgramSource;
  /** The labels that an earlier run has written. */
  readonly labels: readonly Label[];
  /** The journal that was taken over; created when absent. */
  readonly taken?: StoredJournal<ProgramState> | undefined;
  /** The program must end: its journal cannot be written. */
  readonly onLost: (error: PinnaceError) => void;
}

const changesPerCommit = 60;

/** Outcomes that no side effect waits for are committed within this time. */
const spacingMs = 250;

export function openProgramJournal(options: ProgramJournalOptions): ProgramJournal {
  const { state } = options;
  const created = createOnUse(options);
  const labels = [...options.labels];
  const stored = (label: Label): Label | number => {
    const known = labels.indexOf(label);
    return known < 0 ? (labels.push(label), label) : known;
  };
  const append = (
    items: readonly ProgramItem[],
    status?: ProgramState['status'],
    changes?: readonly Change[],
  ): void => {
    created.append(items.map((item) => JSON.stringify(item)), status && { ...state, status }, changes);
  };
  return {
    out(outcome, digest) {
      const label = 'label' in outcome && outcome.label && { label: stored(outcome.label) };
      append([{ t: 'out', digest, ...outcome, ...label }]);
    },
    async begin(n, digest, changed) {
      append([{ t: 'begin', n, digest, ...changed }], 'running');
      await created.flush();
    },
    async suspend(asks, changes) {
      const own = changes.filter(({ key }) => key[0] === 'interruption');
      append(asks, 'suspended', own);
      // The index of many questions takes more than one commit.
      const index = changes.filter((change) => !own.includes(change));
      for (let at = 0; at < index.length; at += changesPerCommit) {
        created.append([], undefined, index.slice(at, at + changesPerCommit));
      }
      await created.flush();
    },
    async end(ok) {
      if (!created.exists) return;
      append([{ t: 'end', ok }], 'ended');
      await created.flush().catch(() => undefined);
    },
  };
}

interface JournalOnUse {
  /** Whether it was created, or is being created. */
  readonly exists: boolean;
  append(items: readonly string[], state?: ProgramState, changes?: readonly Change[]): void;
  flush(): Promise<void>;
}

interface Waiting {
  readonly items: readonly string[];
  readonly state: ProgramState | undefined;
  readonly changes: readonly Change[] | undefined;
}

function createOnUse(options: ProgramJournalOptions): JournalOnUse {
  const { taken, source, state } = options;
  let journal: Journal<ProgramState> | undefined = taken && open(options, taken);
  let creating: Promise<void> | undefined;
  let waiting: Waiting[] = [];
  const first: ProgramItem = { t: 'code', ...source };
  const create = async (): Promise<void> => {
    journal = open(options, await createHead(options, [JSON.stringify(first)], state));
    for (const { items, state: next, changes } of waiting) journal.append(items, { ...given(next, changes) });
    waiting = [];
  };
  return {
    get exists() {
      return journal !== undefined || creating !== undefined;
    },
    append(items, next, changes) {
      if (journal) journal.append(items, given(next, changes));
      else waiting.push({ items, state: next, changes });
    },
    async flush() {
      if (!journal) await (creating ??= create());
      await journal?.flush();
    },
  };
}

function given(state: ProgramState | undefined, changes: readonly Change[] | undefined) {
  return { ...(state && { state }), ...(changes && { changes }) };
}

/** Creates the journal. Only this call uses the mark: a head with it shows that everything was written. */
async function createHead(
  { storage, prefix, now, ttlMs, graceMs }: ProgramJournalOptions,
  items: readonly string[],
  state: ProgramState,
): Promise<StoredJournal<ProgramState>> {
  const { head, changes } = creation(prefix, { state, at: now(), ttlMs, items });
  const written = async (): Promise<string | undefined> => {
    const found = await readJournal<ProgramState>(storage, prefix);
    return found?.head.state.mark === state.mark ? found.version : undefined;
  };
  const result = await commitOwn(storage, changes, { written, graceMs });
  if (!result.ok) throw new Error(`The journal of the program exists: ${headKey(prefix).join('/')}`);
  return { head, version: result.version };
}

function open(
  options: ProgramJournalOptions,
  { head, version }: { readonly head: JournalHead<ProgramState>; readonly version: string },
): Journal<ProgramState> {
  const tick = createCommitTick(spacingMs, options.now);
  return openJournal<ProgramState>({ ...options, head, version, tick, onCommit: () => undefined });
}

/** A program to run from its start, with what it did before. */
export interface Resumed {
  readonly home: ProgramHome;
  readonly state: ProgramState;
  readonly past: ProgramPast;
  readonly decisions: ReadonlyMap<number, SpentDecision | Unspendable>;
  /** The journal that was taken over; absent for a new program. */
  readonly taken: StoredJournal<ProgramState> | undefined;
}

/** Returns the programs that a lost run executed, also those that have ended before their run did. */
export async function findLostPrograms(parent: ProgramsOf, storage: Storage): Promise<readonly LostProgram[]> {
  const stored = await storedPrograms(parent, parent.items.map(({ chunk }) => chunk), storage);
  return stored.flatMap(({ toolCallId, home, state: { driver } }) =>
    driver === parent.runId ? [{ toolCallId, home }] : []
  );
}

/** The run whose programs are looked for. */
interface ProgramsOf {
  readonly runId: string;
  readonly state: RunState;
  readonly items: readonly RecordedChunk[];
}

interface StoredProgram extends LostProgram {
  readonly state: ProgramState;
}

/** Returns the programs that were started by these chunks of a run. */
export async function storedPrograms(
  parent: ProgramsOf,
  chunks: readonly UIMessageChunk[],
  storage: Storage,
): Promise<readonly StoredProgram[]> {
  const all = callsIn(parent.items.map(({ chunk }) => chunk));
  const codes = new Map(callsIn(chunks).map(({ toolCallId, input }) => [toolCallId, codeOf(input)]));
  const found = await Promise.all([...codes].map(async ([toolCallId, code]) => {
    const uses = all.filter((call) => call.toolCallId === toolCallId).length;
    const stored = await Promise.all(
      placesOf(runIdsOf(parent), { toolCallId, uses }).map(async (home) => {
        const head = (await readJournal<ProgramState>(storage, programPrefix(home.runId, home.id)))?.head;
        return head?.state.codeDigest === sha256Sync(code) ? [{ toolCallId, home, state: head.state }] : [];
      }),
    );
    return stored.flat().slice(0, 1);
  }));
  return found.flat();
}

type InputChunk = Extract<UIMessageChunk, { type: 'tool-input-available' }>;

function callsIn(chunks: readonly UIMessageChunk[]): readonly InputChunk[] {
  return chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' && chunk.toolName === codeRunId ? [chunk] : []
  );
}

function codeOf(input: unknown): string {
  const code = isRecord(input) ? input['code'] : undefined;
  return typeof code === 'string' ? code : '';
}

/** The run and those whose log it shares. */
function runIdsOf({ runId, state: { parent } }: ProgramsOf): readonly string[] {
  return [...new Set([runId, ...ancestors(parent)])];
}

function ancestors(parent: ForkedFrom | undefined): readonly string[] {
  return parent ? [parent.runId, ...parent.prefix.map(({ runId }) => runId)] : [];
}

/** Models use the id of a call again: the number of earlier uses distinguishes the journals of a run. */
function placesOf(
  runIds: readonly string[],
  { toolCallId, uses }: { readonly toolCallId: string; readonly uses: number },
): readonly ProgramHome[] {
  const ordinals = Array.from({ length: uses }, (_, ordinal) => ordinal);
  return runIds.flatMap((runId) => ordinals.map((n) => ({ runId, id: programId(toolCallId, n) })));
}
