/** The state of a plan as a text, from which it can be made again without the events before. */

import { type AgentDetails, toColumns } from '../model/agent-columns.ts';
import { restoreAgents, type StoredAgents } from '../model/restore-agents.ts';
import { createAccount } from '../model/account.ts';
import type { Due } from '../decide/due-heap.ts';
import type { AskFacts, EventOf } from '../model/plan-event.ts';
import { type AgentState, createPlanState, type PlanState, rootOf } from '../model/plan-state.ts';
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
  };
  return `${JSON.stringify(stored)}\n${columnsText(living, created)}`;
}

/** Gives the text of agents that have ended. */
export function endedText({ created }: PlanState, ended: readonly AgentState[]): string {
  return columnsText(ended, created);
}

/** In its second line is what only readers of an agent need. */
function columnsText(agents: readonly AgentState[], created: PlanState['created']): string {
  const { details, ...columns } = toColumns(agents, created?.at ?? 0);
  return `${JSON.stringify(columns)}\n${JSON.stringify(details)}`;
}

function readColumns(text: string): StoredAgents {
  const [columns, details] = inTwo(text);
  return { ...JSON.parse(columns) as StoredAgents, details: () => JSON.parse(details) as AgentDetails }; // written above
}

/** The first line, and the others. */
function inTwo(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, end), text.slice(end + 1)];
}

/**
 * Makes the state again of its text and of those with all that had ended.
 *
 * @throws Error, or another error for a wrong form: the journal then restores the state.
 */
export function stateOf(text: string, endedTexts: readonly string[]): PlanState {
  // Written by this module; others are refused by version and sum before.
  const [stored, living] = inTwo(text);
  const { asks, used, dues, count, ...facts } = JSON.parse(stored) as StoredState;
  const account = createAccount(facts.created.terms.budget);
  const columns = [...endedTexts, living].map(readColumns);
  const state: PlanState = {
    ...createPlanState(),
    ...facts,
    phase: 'running',
    agents: restoreAgents(columns, { ...facts, account }),
    asks: new Map(asks.map((ask) => [ask.ask, ask])),
    account,
  };
  if (state.agents.size !== count) throw new Error('An agent is missing');
  Object.assign(account.used, used);
  for (const due of dues) state.dues.add(due);
  return state;
}
