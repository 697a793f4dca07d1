/**
 * Stores snapshots, so that a long journal need not be read from its start. One record names the parts of the last; those
 * with agents that have ended are written once, for such agents hardly change, the rest with every snapshot. All of it goes with the
 * owner's commits, so a former owner writes none.
 */

import type { Key } from '../../base/key.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import { isEnd } from '../decide/follow-ups.ts';
import { eventVersion, type PlanEvent } from '../model/plan-event.ts';
import { agentOfStep, type AgentState, hasEnded, livingAgents, type PlanState } from '../model/plan-state.ts';
import { endedText, snapshotVersion, stateOf, stateText } from '../fold/snapshot.ts';

/** One part: a text, in pieces of which each is one value. */
interface Part {
  readonly name: string;
  readonly pieces: number;
  /** A sum of its text. */
  readonly sum: number;
}

/** What the record says. */
export interface SnapshotRecord {
  readonly version: number;
  /** The version of the events that are folded in it. */
  readonly events: number;
  /** The number of the last event in it. */
  readonly seq: number;
  readonly state: Part;
  readonly ended: readonly Part[];
}

/** The longest piece, in UTF-16 code units. */
const pieceLength = 200_000;
/** A state with a longer text is read from its journal. */
const mostLength = 4_000_000;

function recordKey(planId: string): Key {
  return ['plan', planId, 'snapshot'];
}

function keysOf(planId: string, { name, pieces }: Part): readonly Key[] {
  return Array.from({ length: pieces }, (_, piece) => ['plan', planId, 's', name, piece]);
}

/**
 * Reads the last snapshot; `undefined` when there is none, when a part is missing or damaged, and when it is of another version: the
 * journal says the same.
 */
export async function readSnapshot(
  storage: Storage,
  planId: string,
): Promise<{ readonly state: PlanState; readonly record: SnapshotRecord } | undefined> {
  const entry = await storage.get(recordKey(planId));
  if (!entry) return undefined;
  const record = entry.value as SnapshotRecord; // only this module writes it, maybe another version of it
  if (record.version !== snapshotVersion || record.events !== eventVersion) return undefined;
  try {
    const [text, ...ended] = await Promise.all(
      [record.state, ...record.ended].map((part) => readPart(storage, planId, part)),
    );
    return { state: stateOf(text as string, ended), record }; // the first is always there
  } catch {
    return undefined;
  }
}

async function readPart(storage: Storage, planId: string, part: Part): Promise<string> {
  const found = await Promise.all(keysOf(planId, part).map((key) => storage.get(key)));
  const text = found.map((piece) => piece?.value).join('');
  if (sumOf(text) !== part.sum) throw new Error('A part of a snapshot is missing or damaged');
  return text;
}

/** FNV-1a, over UTF-16 code units. */
function sumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return sum >>> 0;
}

/** Takes the snapshots of one plan for its owner. */
export interface Snapshots {
  /**
   * Called with every group of events. Returns the changes that store a snapshot when one is due, to be committed with the events or
   * after them. Mostly there are none.
   */
  after(events: readonly PlanEvent[], seq: number): readonly Change[];
}

/** What snapshots are taken with. */
export interface SnapshotOptions {
  readonly planId: string;
  readonly ttlMs: number;
  /** So many events are between two, or as many as agents live: writing must not take more than it saves. */
  readonly every: number;
  /** The number of the event from which on is counted: that of the last snapshot, of the last event of a new plan, or 0. */
  readonly since: number;
  /** The last snapshot that can be read. */
  readonly last: SnapshotRecord | undefined;
  /** Agents that have ended since; some may be there twice. */
  readonly ended: readonly AgentState[];
}

/** Creates the snapshots of a state. */
export function createSnapshots(state: PlanState, options: SnapshotOptions): Snapshots {
  const { planId, ttlMs, every } = options;
  let { last, since } = options;
  let ended = [...options.ended];
  let due = since + every;

  const take = (seq: number): readonly Change[] => {
    const living = livingAgents(state);
    due = since + Math.max(every, living.length);
    if (seq < due) return none;
    due = seq + every;
    const text = stateText(state, living);
    const more = ended.length > 0 ? endedText(state, ended) : '';
    if (text === undefined || text.length + more.length > mostLength) return none;
    const part = toPart(`${seq}`, text);
    const news = more === '' ? [] : [toPart(`${seq}.ended`, more)];
    const record: SnapshotRecord = {
      version: snapshotVersion,
      events: eventVersion,
      seq,
      state: part.part,
      ended: [...last?.ended ?? [], ...news.map((one) => one.part)],
    };
    const replaced = last ? keysOf(planId, last.state).map((key) => ({ key })) : [];
    const written = [part, ...news].flatMap(({ part: own, pieces }) =>
      keysOf(planId, own).map((key, i) => ({ key, value: pieces[i], ttlMs }))
    );
    [last, ended, since] = [record, [], seq];
    return [...written, { key: recordKey(planId), value: record, ttlMs }, ...replaced];
  };
  return {
    after(events, seq) {
      for (const event of events) {
        const agent = changedAtEnd(state, event);
        if (agent) ended.push(agent);
      }
      return seq < due ? none : take(seq);
    },
  };
}

const none: readonly Change[] = [];

/** The agent that this event ends, or an ended one that receives the usage of a late step; others change until they end. */
export function changedAtEnd(state: PlanState, event: PlanEvent): AgentState | undefined {
  if (isEnd(event)) return state.agents.get(event.id);
  if (event.type !== 'step.late') return undefined;
  const agent = agentOfStep(state, event.step);
  return agent && hasEnded(agent) ? agent : undefined;
}

function toPart(name: string, text: string): { readonly part: Part; readonly pieces: readonly string[] } {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieceLength) pieces.push(text.slice(at, at + pieceLength));
  return { part: { name, pieces: pieces.length, sum: sumOf(text) }, pieces };
}
