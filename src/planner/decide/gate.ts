/** What is decided but not committed yet: nothing is started that a crash could undo. */

import type { Activity } from '../model/plan-state.ts';
import { rank } from './schedule.ts';

/** Activities that wait for the commit of the event that allows them. */
export interface Gate {
  readonly size: number;
  /** The activities may start when this event is committed. */
  add(seq: number, activities: readonly Activity[]): void;
  /** Takes those whose event is committed. */
  open(committed: number): readonly Activity[];
  /** The rank below which no other work takes one of this number of free slots: they are reserved for waiting work. */
  leastRank(free: number): number;
}

/** Gives a gate, nothing behind it. */
export function createGate(): Gate {
  let waiting: { readonly seq: number; readonly activities: readonly Activity[]; readonly rank: number }[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(seq, activities) {
      const highest = activities.reduce((most, activity) => Math.max(most, rank(activity)), -Infinity);
      waiting.push({ seq, activities, rank: highest });
      size += activities.length;
    },
    open(committed) {
      if ((waiting[0]?.seq ?? Infinity) > committed) return [];
      const opened = waiting.filter(({ seq }) => seq <= committed).flatMap(({ activities }) => activities);
      waiting = waiting.filter(({ seq }) => seq > committed);
      size -= opened.length;
      return opened;
    },
    leastRank: (free) =>
      size < free ? -Infinity : waiting.reduce((most, { rank: own }) => Math.max(most, own), -Infinity),
  };
}
