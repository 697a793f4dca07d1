/** The journal of a plan, for its owner: groups of events, and the changes that are committed with them. */

import type { PinnaceError } from '../../base/errors.ts';
import { type Journal, openJournal } from '../../log/journal.ts';
import type { JournalHead } from '../../log/journal-record.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import { createDrafter, type Draft, type DraftSettings } from '../decide/draft.ts';
import { createOutliner } from './outline.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import { dueKey, isOver, type PlanHead, planPrefix } from './plan-record.ts';
import { none, type PlanState } from '../model/plan-state.ts';
import { createQuestionRecords } from './question-records.ts';
import { createSnapshots, type SnapshotOptions } from './snapshot-store.ts';

/** An event with its number. */
export interface NumberedEvent {
  readonly seq: number;
  readonly event: PlanEvent;
}

/** The journal of one plan. */
export interface PlanJournal {
  /** How many events there are; those behind `committed` can still be lost. */
  readonly seq: number;
  readonly committed: number;
  readonly head: PlanHead;
  /** Decides and records: all events of the draft and the changes are in one commit. Returns the events. */
  write(decide: (draft: Draft) => void, changes?: readonly Change[]): readonly PlanEvent[];
  /** Changes the head; the index of due times follows it. */
  setHead(head: PlanHead): void;
  /** Commits everything so far. Rejects when another owner has the plan, or the storage fails. */
  flush(): Promise<void>;
}

/** What a journal is opened with. */
export interface PlanJournalOptions {
  readonly storage: Storage;
  readonly planId: string;
  readonly head: JournalHead<PlanHead>;
  readonly version: string;
  readonly state: PlanState;
  readonly settings: DraftSettings;
  readonly now: () => number;
  readonly ttlMs: number;
  /** How long commits are repeated while the storage is out of reach. */
  readonly graceMs?: number;
  readonly snapshots: Pick<SnapshotOptions, 'every' | 'since' | 'last' | 'ended'>;
  /** These events are committed now; in their order. */
  readonly onCommit: (events: readonly PlanEvent[]) => void;
  readonly onLost: (error: PinnaceError) => void;
}

/** Opens the journal for its owner. */
export function openPlanJournal(options: PlanJournalOptions): PlanJournal {
  const { storage, planId, state, settings, now, ttlMs, graceMs, onCommit, onLost } = options;
  let head = options.head.state;
  let seq = options.head.seq;
  let committed = seq;
  let tail: PlanEvent[] = [];
  const journal: Journal<PlanHead> = openJournal({
    storage,
    prefix: planPrefix(planId),
    head: options.head,
    version: options.version,
    now,
    ttlMs,
    graceMs,
    onCommit(upTo) {
      const count = upTo - committed;
      committed = upTo;
      const events = count === tail.length ? tail : tail.slice(0, count);
      tail = count === tail.length ? [] : tail.slice(count);
      onCommit(events);
    },
    onLost,
  });
  const outliner = createOutliner({ planId, owner: `${options.head.fence}`, ttlMs });
  const drafter = createDrafter(state, { settings, outliner });
  const snapshots = createSnapshots(state, { ...options.snapshots, planId, ttlMs });
  const questions = createQuestionRecords(state, { planId, ttlMs, owner: head });
  return {
    get seq() {
      return seq;
    },
    get committed() {
      return committed;
    },
    get head() {
      return head;
    },
    write(decide, changes = none) {
      const { events, texts, changes: values } = drafter.write(Math.max(state.at, now()), decide);
      if (events.length === 0 && changes.length === 0) return events;
      for (const event of events) tail.push(event);
      seq += events.length;
      const records = questions.changes(events);
      const isAlone = changes.length + values.length + records.length === 0;
      journal.append(texts, isAlone ? undefined : { changes: [...changes, ...values, ...records] });
      const snapshot = snapshots.after(events, seq);
      if (snapshot.length > 0) journal.append([], { changes: snapshot });
      return events;
    },
    setHead(next) {
      const changes = dueChanges(head, next, { planId, ttlMs });
      head = next;
      journal.append([], { state: next, changes });
    },
    flush: () => journal.flush(),
  };
}

/** The changes of the index of due times. */
function dueChanges(
  before: PlanHead,
  next: PlanHead,
  { planId, ttlMs }: { readonly planId: string; readonly ttlMs: number },
): readonly Change[] {
  const isMoved = before.dueAt !== undefined && before.dueAt !== next.dueAt;
  return [
    ...(isMoved ? [{ key: dueKey(before.dueAt, planId) }] : []),
    ...(next.dueAt !== undefined && !isOver(next) ? [{ key: dueKey(next.dueAt, planId), value: planId, ttlMs }] : []),
  ];
}
