/**
 * Snapshots of a plan's state, so that a long journal need not be read from its start.
 *
 * - The journal says everything: a snapshot that is missing, damaged or of another version is not used, and the journal is read. So
 *   are the plans of version 0.2, whose snapshots had another form.
 * - A snapshot goes with a commit of the owner, so a former owner writes none.
 * - It holds what no other field says. Parents, children, accounts and who waits for whom are made again from the agents' events.
 */

import type { Key } from '../base/key.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { type Label, parseLabel } from '../permission/label.ts';
import { type Account, createAccount, hold } from './account.ts';
import { addAgent, newAgent, waitFor } from './agent-changes.ts';
import { type AskFacts, type EventOf, eventVersion } from './plan-event.ts';
import { readPlanEvents } from './plan-record.ts';
import {
  type AgentState,
  type CallState,
  createPlanState,
  hasEnded,
  livingAgents,
  type PlanState,
} from './plan-state.ts';
import { reduce } from './reduce.ts';
import { isValid } from './settle.ts';

/** The version of the form below. */
const snapshotVersion = 4;
/** The longest part of a text that is one value, in UTF-16 code units. */
const pieceLength = 200_000;
/** A state with a longer text is read from its journal. */
const mostLength = 4_000_000;

/** What is stored about the last snapshot; its text is in as many pieces. */
export interface SnapshotRecord {
  readonly version: number;
  /** The version of the events that are folded in it. */
  readonly events: number;
  /** The number of the last event in it. */
  readonly seq: number;
  readonly pieces: number;
  /** A sum of its text. */
  readonly sum: number;
}

/** The state as JSON. */
interface StoredState
  extends Pick<PlanState, 'at' | 'paused' | 'askCount' | 'askedSince' | 'askedMs' | 'currency' | 'dues'> {
  readonly created: EventOf<'run.created'>;
  /** Absent in those of earlier versions. */
  readonly read?: Label;
  readonly asks: readonly AskFacts[];
  readonly used: Account['used'];
  readonly agents: readonly StoredAgent[];
}

/** What follows from the agents' events, and what has another form in JSON. */
const otherFields = [
  ...['id', 'parent', 'depth', 'order', 'spec', 'context', 'account', 'startedAt', 'children', 'keys', 'open'] as const,
  ...['dependents', 'blockers', 'awaitedIds', 'replies', 'calls'] as const,
];

/** An agent without what is as it was when it was made. */
type StoredAgent =
  & Pick<AgentState, 'spec'>
  & Partial<Omit<AgentState, (typeof otherFields)[number]>>
  & { readonly replies?: readonly string[]; readonly calls?: readonly CallState[]; readonly used?: Account['used'] };

/** A state that was read. */
export interface ReadState {
  readonly state: PlanState;
  /** The number of the last event in it. */
  readonly seq: number;
  /** The snapshot that it was read with; without one, the whole journal was read. */
  readonly snapshot: SnapshotRecord | undefined;
}

/** Reads the state of an existing plan: its last snapshot, and the events behind it. */
export async function readState(storage: Storage, planId: string): Promise<ReadState> {
  const found = await readSnapshot(storage, planId);
  const state = found?.state ?? createPlanState();
  let seq = found?.record.seq ?? 0;
  for (let page = await readPlanEvents(storage, planId, seq); page.length > 0;) {
    for (const { event } of page) reduce(state, event);
    seq = page.at(-1)?.seq ?? seq;
    page = await readPlanEvents(storage, planId, seq);
  }
  state.fresh = []; // the owner starts with everything
  return { state, seq, snapshot: found?.record };
}

async function readSnapshot(
  storage: Storage,
  planId: string,
): Promise<{ readonly state: PlanState; readonly record: SnapshotRecord } | undefined> {
  const entry = await storage.get(recordKey(planId));
  if (!entry) return undefined;
  const record = entry.value as SnapshotRecord; // only this module writes it, maybe another version of it
  if (record.version !== snapshotVersion || record.events !== eventVersion) return undefined;
  const pieces = await Promise.all(pieceKeys(planId, record).map((key) => storage.get(key)));
  const text = pieces.map((piece) => piece?.value).join('');
  return sumOf(text) === record.sum ? { state: stateOf(text), record } : undefined;
}

/** Takes the snapshots of one plan for its owner. */
export class Snapshots {
  readonly #planId: string;
  readonly #ttlMs: number;
  readonly #every: number;
  #last: SnapshotRecord | undefined;
  #due: number;

  /**
   * So many events are between two snapshots as `every` says, or as there are agents: writing must not take more than it saves. They
   * count from `since`: the last snapshot, or the first events of a new plan.
   */
  constructor(planId: string, { ttlMs, every, since, last }: {
    readonly ttlMs: number;
    readonly every: number;
    readonly since: number;
    readonly last: SnapshotRecord | undefined;
  }) {
    this.#planId = planId;
    this.#ttlMs = ttlMs;
    this.#every = every;
    this.#last = last;
    this.#due = since + every;
  }

  /** Called after each group of events. Returns the changes that store a snapshot when one is due; mostly there are none. */
  after(state: PlanState, seq: number): readonly Change[] {
    if (seq < this.#due) return [];
    this.#due = seq + Math.max(this.#every, state.agents.size);
    const text = textOf(state);
    if (text === undefined || text.length > mostLength) return [];
    const [planId, ttlMs, before] = [this.#planId, this.#ttlMs, this.#last];
    const pieces = Math.ceil(text.length / pieceLength);
    const record = { version: snapshotVersion, events: eventVersion, seq, pieces, sum: sumOf(text) };
    this.#last = record;
    return [
      ...pieceKeys(planId, record).map((key, i) => {
        return { key, value: text.slice(i * pieceLength, (i + 1) * pieceLength), ttlMs };
      }),
      { key: recordKey(planId), value: record, ttlMs },
      ...before ? pieceKeys(planId, before).map((key) => ({ key })) : [],
    ];
  }
}

function recordKey(planId: string): Key {
  return ['plan', planId, 'snapshot'];
}

function pieceKeys(planId: string, { seq, pieces }: SnapshotRecord): readonly Key[] {
  return Array.from({ length: pieces }, (_, piece) => ['plan', planId, 's', `${seq}`, piece]);
}

/** FNV-1a, over UTF-16 code units. */
function sumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return sum >>> 0;
}

/** Returns the text of a state; `undefined` where the plan has not begun or is over. */
export function textOf(state: PlanState): string | undefined {
  const { created, read, phase, at, paused, asks, askCount, askedSince, askedMs, account, currency, dues, agents } =
    state;
  if (!created || agents.size === 0 || phase !== 'running') return undefined;
  const stored: StoredState = {
    at,
    paused,
    created,
    read,
    asks: [...asks.values()],
    askCount,
    askedSince,
    askedMs,
    used: account.used,
    currency,
    dues: dues.filter((due) => isValid(state, due)),
    agents: [...agents.values()].map(toStored),
  };
  return JSON.stringify(stored);
}

const atFirst = newAgent({ type: 'agent.created', at: 0, id: '', goal: '' }, {
  parent: undefined,
  account: createAccount({}),
  order: 0,
});
/** The fields that are stored unchanged. */
const plainFields = (Object.keys(atFirst) as (keyof AgentState)[]) // an agent's own
  .filter((field) => !(otherFields as readonly string[]).includes(field));

function toStored(agent: AgentState): StoredAgent {
  const { spec, replies, calls, account } = agent;
  const stored: Record<string, unknown> = { spec };
  for (const field of plainFields) {
    const value = agent[field];
    if (value !== atFirst[field] && !(Array.isArray(value) && value.length === 0)) stored[field] = value;
  }
  if (replies) stored['replies'] = [...replies];
  if (calls) stored['calls'] = [...calls.values()];
  if (spec.budget && !hasEnded(agent)) stored['used'] = account.used;
  return stored as unknown as StoredAgent; // it has a spec, and fields of an agent
}

/** Makes the state again of its text. */
export function stateOf(text: string): PlanState {
  const { asks, used, agents, read, ...facts } = JSON.parse(text) as StoredState; // written above: version and sum say so
  const account = createAccount(facts.created.terms.budget);
  Object.assign(account.used, used);
  const openAsks = new Map(asks.map((ask) => [ask.ask, ask]));
  const state: PlanState = {
    ...createPlanState(),
    ...facts,
    read: parseLabel(read),
    phase: 'running',
    asks: openAsks,
    account,
  };
  for (const stored of agents) restore(state, stored);
  for (const agent of livingAgents(state)) {
    if (agent.parent) agent.parent.open++;
    for (const address of agent.spec.after ?? []) {
      const other = state.agents.get(address);
      if (other && !hasEnded(other)) waitFor(agent, other);
    }
  }
  return state;
}

function restore(state: PlanState, { spec, replies, calls, used, ...plain }: StoredAgent): void {
  const agent = addAgent(state, spec);
  Object.assign(agent, plain);
  agent.awaitedIds = agent.wait.of && new Set(agent.wait.of);
  if (replies) agent.replies = new Set(replies);
  if (calls) agent.calls = new Map(calls.map((call) => [call.id, call]));
  if (!spec.budget || hasEnded(agent)) return;
  hold(agent.parent?.account ?? state.account, spec.budget);
  Object.assign(agent.account.used, used);
}
