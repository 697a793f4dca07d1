/** Activities that wait for a slot, and which of them is next. */

import { type Activity, callOf, livingAgents, type PlanState, stepOf } from './plan-state.ts';

/** Activities of one rank and provider, the oldest first. */
interface Lane {
  readonly rank: number;
  readonly provider: string | undefined;
  readonly items: { readonly activity: Activity; /** How many had started before. */ readonly since: number }[];
}

/** So many starts of others make up for one rank. */
const ageing = 256;

/**
 * The queue of one plan. What goes on (it joins results, or is a call) is before what begins, then deeper before shallower, then
 * older before younger; those that wait long move up, so nothing waits for ever. Nothing starts that a crash could undo: what was
 * decided and is not committed yet waits, and slots are reserved for it.
 */
export class WorkQueue {
  readonly #lanes: Lane[] = []; // few: one for each rank and provider
  #uncommitted: { readonly seq: number; readonly activities: readonly Activity[]; readonly rank: number }[] = [];
  #size = 0;
  #starts = 0;

  /** How many could start. */
  get size(): number {
    return this.#size;
  }

  /** How many wait for a commit. */
  get uncommitted(): number {
    return this.#uncommitted.reduce((sum, { activities }) => sum + activities.length, 0);
  }

  add(activity: Activity): void {
    const [rank, provider] = [rankOf(activity), providerOf(activity)];
    let lane = this.#lanes.find((one) => one.rank === rank && one.provider === provider);
    if (!lane) this.#lanes.push(lane = { rank, provider, items: [] });
    lane.items.push({ activity, since: this.#starts });
    this.#size++;
  }

  /** Adds activities that may start when this event is committed. */
  addUncommitted(seq: number, activities: readonly Activity[]): void {
    const rank = activities.reduce((most, activity) => Math.max(most, rankOf(activity)), -Infinity);
    this.#uncommitted.push({ seq, activities, rank });
  }

  /** Everything up to this event is committed. */
  commit(seq: number): void {
    for (const group of this.#uncommitted) {
      if (group.seq <= seq) { for (const activity of group.activities) this.add(activity); }
    }
    this.#uncommitted = this.#uncommitted.filter((group) => group.seq > seq);
  }

  /** Takes the next whose provider is free, unless this number of slots is reserved for those that wait for their commit. */
  take(slots: number, isFree: (provider: string | undefined) => boolean): Activity | undefined {
    let [best, bestRank]: [Lane | undefined, number] = [undefined, -Infinity];
    for (const lane of this.#lanes) {
      const [oldest] = lane.items;
      if (!oldest || !isFree(lane.provider)) continue;
      const rank = lane.rank + (this.#starts - oldest.since) / ageing;
      if (rank > bestRank) [best, bestRank] = [lane, rank];
    }
    const isReserved = this.uncommitted >= slots && this.#uncommitted.some(({ rank }) => rank > bestRank);
    if (!best || isReserved) return undefined;
    this.#size--;
    this.#starts++;
    return best.items.shift()?.activity;
  }
}

/**
 * Returns every activity that the state allows to run, in the order in which they should start. It reads the state and nothing else,
 * so it says after a crash what it said before.
 */
export function schedule(state: PlanState): readonly Activity[] {
  if (state.phase !== 'running') return [];
  const found: Activity[] = [];
  for (const agent of livingAgents(state)) {
    if (agent.status === 'ready') found.push(stepOf(agent));
    for (const call of agent.calls?.values() ?? []) {
      if (call.status === 'ready') found.push(callOf(agent, call));
    }
  }
  return found.toSorted((a, b) => rankOf(b) - rankOf(a) || a.agent.order - b.agent.order);
}

/** The provider whose places the activity takes. */
export function providerOf({ agent, call }: Activity): string | undefined {
  return (call?.spec ?? agent.spec).provider;
}

/** More than the depth of any agent. */
const goingOn = 64;

/** How soon an activity should start: the higher, the sooner. */
function rankOf({ agent, call }: Activity): number {
  return agent.depth + (agent.step > 1 || call !== undefined ? goingOn : 0);
}
