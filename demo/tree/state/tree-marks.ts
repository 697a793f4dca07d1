/** Marks rows that were just changed. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Activity } from '../worker/control.ts';

/** Marks by node: who changed it. */
export interface TreeMarks {
  readonly marks: ReadonlySignal<ReadonlyMap<string, Activity>>;
  mark(activity: Activity): void;
  clear(): void;
}

/** How long a mark stays. */
export const markMs = 6000;

/** Creates marks; each goes by itself, and a newer one takes the place of an older. */
export function createTreeMarks(): TreeMarks {
  const marks = signal<ReadonlyMap<string, Activity>>(new Map());
  return {
    marks,
    mark(activity) {
      marks.value = new Map([...marks.value, ...activity.nodeIds.map((nodeId) => [nodeId, activity] as const)]);
      setTimeout(() => {
        marks.value = new Map([...marks.value].filter(([, other]) => other !== activity));
      }, markMs);
    },
    clear: () => void (marks.value = new Map()),
  };
}
