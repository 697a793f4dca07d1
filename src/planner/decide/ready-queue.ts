/** Activities that wait for a slot, and which of them is next. */

import type { Activity } from '../model/plan-state.ts';
import { rank } from './schedule.ts';

/** A queue in the order of `schedule`, in which nothing waits for ever. */
export interface ReadyQueue {
  add(activity: Activity): void;
  /** Takes the next whose provider is free, unless its rank, with what its age adds, is below `least`. */
  take(isFree: (provider: string | undefined) => boolean, least?: number): Activity | undefined;
  readonly size: number;
}

/** Activities of one rank and provider, the oldest first. */
interface Lane {
  readonly rank: number;
  readonly provider: string | undefined;
  readonly items: Activity[];
  /** How many activities had started when each was added. */
  readonly since: number[];
  /** The index of the oldest: removing from the front of an array would be linear. */
  head: number;
}

/** So many starts of others make up for one rank. */
const ageing = 256;

/** Gives a queue, empty. */
export function createReadyQueue(): ReadyQueue {
  const lanes: Lane[] = []; // few: one for each rank and provider
  let size = 0;
  let starts = 0;
  return {
    add(activity) {
      const provider = (activity.call?.spec ?? activity.agent.spec).provider;
      const own = rank(activity);
      let lane = lanes.find((one) => one.rank === own && one.provider === provider);
      if (!lane) lanes.push(lane = { rank: own, provider, items: [], since: [], head: 0 });
      lane.items.push(activity);
      lane.since.push(starts);
      size++;
    },
    take(isFree, least = -Infinity) {
      let best: Lane | undefined;
      let bestRank = -Infinity;
      for (const lane of lanes) {
        const since = lane.since[lane.head];
        if (since === undefined || !isFree(lane.provider)) continue;
        const aged = lane.rank + (starts - since) / ageing;
        if (aged <= bestRank) continue;
        best = lane;
        bestRank = aged;
      }
      if (!best || bestRank < least) return undefined;
      size--;
      starts++;
      return takeOldest(best);
    },
    get size() {
      return size;
    },
  };
}

function takeOldest(lane: Lane): Activity | undefined {
  const activity = lane.items[lane.head];
  lane.head++;
  if (lane.head > 1024 && lane.head * 2 > lane.items.length) {
    lane.items.splice(0, lane.head);
    lane.since.splice(0, lane.head);
    lane.head = 0;
  }
  return activity;
}
