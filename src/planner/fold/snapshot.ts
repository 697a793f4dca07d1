/** The state of a plan as a text, from which it can be made again without the events before. */

import { type AgentColumns, type AgentDetails, toColumns } from '../model/agent-columns.ts';
import { restoreAgents, type StoredAgents } from '../model/restore-agents.ts';
import { createAccount } from '../model/account.ts';
import { createDueHeap, type Due } from '../decide/due-heap.ts';
import type { AskFacts, EventOf } from '../model/plan-event.ts';
import { type AgentState, type PlanState, rootOf } from '../model/plan-state.ts';
import { isValid } from '../decide/settle-due.ts';

/** The version of the form below. A reader knows its own, and reads the journal where it is another. */
export const snapshotVersion = 3;

/** A state without the agents that have ended before the last snapshot: they are in others, and do not change. */
interface StoredState {
  readonly at: number;
  readonly paused: boolean;
  readonly created: EventOf<'run.created'>;
  readonly asks: readonly AskFacts[];
  readonly askCount: number;
  readonly askedSince?: number | undefined;
  readonly askedMs: number;
  readonly used: PlanState['account']['used'];
  readonly currency?: PlanState['currency'];
  readonly dues: readonly Due[];
  /** How many agents there are, with those that have ended. */
  readonly count: number;
  readonly agents: AgentColumns;
}

/** Gives the text of a state with these agents, those that live; `undefined` where the plan has not begun or is over. */
export function stateText(state: PlanState, living: readonly AgentState[]): string | undefined {
  const { created, phase, at, paused, asks, askCount, askedSince, askedMs, account, currency, dues } = state;
  if (!created || !rootOf(state) || phase !== 'running') return undefined;
  const stored: StoredState = {
    at,
    paused,
    created,
    asks: [...asks.values()],
    askCount,
    askedSince,
    askedMs,
    used: account.used,
    currency,
    dues: dues.all().filter((due) => isValid(state, due)),
    count: state.agents.size,
    agents: toColumns(living, created.at),
  };
  return JSON.stringify(stored);
}

/** Gives the text of agents that have ended: in its second line what only readers of one need. */
export function endedText(state: PlanState, ended: readonly AgentState[]): string {
  const { details, ...columns } = toColumns(ended, state.created?.at ?? 0);
  return `${JSON.stringify(columns)}\n${JSON.stringify(details)}`;
}

function readEnded(text: string): StoredAgents {
  const end = text.indexOf('\n');
  const { rows, statuses } = JSON.parse(text.slice(0, end)) as StoredAgents; // as above
  return { rows, statuses, details: () => JSON.parse(text.slice(end)) as AgentDetails };
}

/**
 * Makes the state again of its text and of those with all that had ended.
 *
 * @throws Error, or another error for a wrong form: the journal then restores the state.
 */
export function stateOf(text: string, endedTexts: readonly string[]): PlanState {
  const stored = JSON.parse(text) as StoredState; // written by this module; others are refused by version and sum before
  const { at, paused, created, asks, askCount, askedSince, askedMs, used, currency, dues, count, agents } = stored;
  const account = createAccount(created.terms.budget);
  const columns = [...endedTexts.map(readEnded), { ...agents, details: () => agents.details }];
  const state: PlanState = { // every field is named, so that none is missed
    at,
    phase: 'running',
    paused,
    created,
    agents: restoreAgents(columns, { created, account }),
    asks: new Map(asks.map((ask) => [ask.ask, ask])),
    askCount,
    askedSince,
    askedMs,
    account,
    currency,
    dues: createDueHeap(),
    fresh: [],
    result: undefined,
    cites: [],
    error: undefined,
    reason: undefined,
    recent: undefined,
  };
  if (state.agents.size !== count) throw new Error('An agent is missing');
  Object.assign(state.account.used, used);
  for (const due of dues) state.dues.add(due);
  return state;
}
