/** The journal of a plan, for its owner: groups of events, and the changes that are committed with them. */

import type { PinnaceError } from '../base/errors.ts';
import type { Change } from '../contracts/storage.ts';
import { dueChange } from '../log/due.ts';
import { ownedKey } from '../log/instances.ts';
import type { JournalHead } from '../log/journal-record.ts';
import { type Journal, openJournal } from '../log/journal.ts';
import { type Interruption, interruptionChange } from '../permission/interruption.ts';
import { announcedChanges, settledChanges, waitingChanges } from '../permission/waiting.ts';
import { Draft, type DraftSettings } from './draft.ts';
import { askKey, createOutliner, type Inbound, type Outliner, type PlanHead, planPrefix } from './plan-record.ts';
import type { AskFacts, PlanEvent } from './plan-event.ts';
import type { PlanHost } from './plan-host.ts';
import type { PlanLimits } from './plan-limits.ts';
import type { PlanState } from './plan-state.ts';
import { type SnapshotRecord, Snapshots } from './snapshots.ts';

const changesPerGroup = 60;
const longestQuote = 200;

/** A plan that this process owns. */
export interface OwnedPlan {
  readonly planId: string;
  readonly head: JournalHead<PlanHead>;
  readonly version: string;
  /** Folded up to the head. */
  readonly state: PlanState;
  /** The first events of a new plan. */
  readonly events: readonly PlanEvent[];
  /** The last snapshot that can be read. */
  readonly snapshot: SnapshotRecord | undefined;
  /** Input from outside since the last owner. */
  readonly inbound: Inbound;
}

/** What the owner of a journal is told. */
interface JournalListener {
  /** These events are committed now; in their order. */
  readonly onCommit: (events: readonly PlanEvent[]) => void;
  readonly onLost: (error: PinnaceError) => void;
}

/** The journal of one plan, for its owner. */
export class PlanJournal {
  readonly #state: PlanState;
  readonly #planId: string;
  readonly #instance: string | undefined;
  readonly #now: () => number;
  readonly #notices: PlanHost['notices'];
  readonly #ttlMs: number;
  readonly #settings: DraftSettings;
  readonly #journal: Journal<PlanHead>;
  readonly #outliner: Outliner;
  readonly #snapshots: Snapshots;
  readonly #open: Map<string, AskFacts>;
  #head: PlanHead;
  #seq: number;
  #committed: number;
  /** Events that are not committed yet. */
  #tail: PlanEvent[] = [];

  constructor(
    { planId, head, version, state, events, snapshot }: OwnedPlan,
    { storage, limits, now, notices }: Pick<PlanHost, 'storage' | 'limits' | 'now' | 'notices'>,
    { onCommit, onLost }: JournalListener,
  ) {
    this.#state = state;
    this.#planId = planId;
    this.#instance = head.instance;
    this.#now = now;
    this.#notices = notices;
    const ttlMs = this.#ttlMs = limits.retentionMs;
    this.#settings = settingsOf(state, limits);
    this.#head = head.state;
    this.#seq = this.#committed = head.seq;
    this.#open = new Map(state.asks);
    this.#outliner = createOutliner({ planId, owner: `${head.fence}`, ttlMs });
    const since = snapshot?.seq ?? events.length;
    this.#snapshots = new Snapshots(planId, { ttlMs, every: limits.snapshotEvents, since, last: snapshot });
    this.#journal = openJournal({
      storage,
      prefix: planPrefix(planId),
      head,
      version,
      now,
      ttlMs,
      graceMs: limits.storageGraceMs,
      onCommit: (upTo) => {
        const committed = this.#tail.splice(0, upTo - this.#committed);
        this.#committed = upTo;
        onCommit(committed);
      },
      onLost,
    });
  }

  /** How many events there are; those behind `committed` can still be lost. */
  get seq(): number {
    return this.#seq;
  }

  get committed(): number {
    return this.#committed;
  }

  get head(): PlanHead {
    return this.#head;
  }

  /** Decides and records: all events of the draft and the changes are in one commit. Returns the events. */
  write(decide: (draft: Draft) => void, changes: readonly Change[] = []): readonly PlanEvent[] {
    const draft = new Draft(this.#state, {
      at: Math.max(this.#state.at, this.#now()),
      settings: this.#settings,
      outliner: this.#outliner,
    });
    decide(draft);
    const { events, texts } = draft;
    if (events.length === 0 && changes.length === 0) return events;
    for (const event of events) this.#tail.push(event);
    this.#seq += events.length;
    const { records, index } = this.#questionChanges(events);
    this.#journal.append(texts, { changes: [...changes, ...draft.changes, ...records] });
    // Few questions have it in the commit of their records; the index of many takes more than one.
    for (let at = 0; at < index.length; at += changesPerGroup) {
      this.#journal.append([], { changes: index.slice(at, at + changesPerGroup) });
    }
    const snapshot = this.#snapshots.after(this.#state, this.#seq);
    if (snapshot.length > 0) this.#journal.append([], { changes: snapshot });
    return events;
  }

  /** Ends or leaves the plan: this instance does not own it any more, and the index has when it is due. */
  leave(head: PlanHead): void {
    const { dueAt: at, tenant } = this.#head = head;
    const [id, ttlMs, instance] = [this.#planId, this.#ttlMs, this.#instance];
    this.#journal.append([], {
      state: head,
      changes: [
        ...(at === undefined ? [] : [dueChange({ at, id, tenant }, ttlMs)]),
        ...(instance === undefined ? [] : [{ key: ownedKey(instance, id) }]),
      ],
    });
  }

  /** Commits everything so far. Rejects when another owner has the plan, or the storage fails. */
  flush(): Promise<void> {
    return this.#journal.flush();
  }

  /** The records by which people answer: one for each open question, closed when the plan no longer needs the answer. */
  #questionChanges(events: readonly PlanEvent[]): Record<'records' | 'index', readonly Change[]> {
    const [{ asks }, open, planId, ttlMs] = [this.#state, this.#open, this.#planId, this.#ttlMs];
    if (open.size === 0 && !events.some(({ type }) => type === 'ask.opened')) return { records: [], index: [] };
    const [changes, index]: [Change[], Change[]] = [[], []];
    for (const event of events) {
      if (event.type === 'ask.opened' && asks.has(event.ask)) {
        open.set(event.ask, event);
        const { at, type: _type, ...facts } = event;
        const record = this.#questionOf(event, 'pending');
        changes.push(interruptionChange(record, ttlMs), { key: askKey(planId, event.ask), value: facts, ttlMs });
        index.push(...waitingChanges(record, at));
        index.push(...announcedChanges(this.#notices, record, { type: 'inbox.opened', at }));
      } else if (event.type === 'ask.answered' && event.by !== 'timeout') {
        open.delete(event.ask); // its record has the answer
        changes.push({ key: askKey(planId, event.ask) });
      }
    }
    for (const ask of open.values()) {
      if (asks.has(ask.ask)) continue;
      open.delete(ask.ask);
      const record = this.#questionOf(ask, 'closed');
      changes.push(interruptionChange(record, ttlMs), { key: askKey(planId, ask.ask) });
      index.push(...settledChanges(record));
      index.push(
        ...announcedChanges(this.#notices, record, { type: 'inbox.settled', at: this.#now(), state: 'closed' }),
      );
    }
    return { records: changes, index };
  }

  #questionOf(ask: AskFacts, state: Interruption['state']): Interruption {
    const { tenant, subject, actor } = this.#head;
    const { question, schema, options, about } = ask;
    return {
      id: ask.ask,
      kind: ask.kind === 'approval' ? 'approval' : 'question',
      runId: this.#planId,
      tenant,
      ...(subject !== undefined && { subject }),
      ...(actor !== undefined && { actor }),
      ...(ask.approvers && { approvers: ask.approvers }),
      ...(ask.fourEyes && { fourEyes: ask.fourEyes }),
      agentId: this.#state.agents.get(ask.agent)?.spec.agentId ?? '',
      binding: `${ask.agent} ${ask.step ?? ''}`,
      ...(ask.edit && { edit: ask.edit }),
      ...(ask.at !== undefined && { openedAt: ask.at }),
      facts: {
        ...(about ?? {
          title: ask.kind === 'lost_call' ? 'A call was lost' : 'An agent asks',
          quote: question.slice(0, longestQuote).toWellFormed(),
        }),
        question,
        ...(schema && { schema }),
        ...(options && { options }),
      },
      expiresAt: ask.expiresAt,
      state,
    };
  }
}

/** What decisions on this plan need to know: its terms, and the limits of its planner. */
export function settingsOf({ created }: PlanState, { maxDepth, askMs, stallAfter }: PlanLimits): DraftSettings {
  const terms = created?.terms;
  return {
    allowHuman: terms?.allowHumanIntervention === true,
    maxDepth: terms?.maxDepth ?? maxDepth,
    askMs,
    stallAfter: terms?.stallAfter ?? stallAfter,
  };
}
