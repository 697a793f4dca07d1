/** What happens next: a binary heap of times and what to do then. */

/** Things to do, by the time of each. */
export interface EventQueue {
  readonly now: () => number;
  readonly at: (time: number, act: () => void) => void;
  /** Does everything up to this time. */
  readonly runUntil: (end: number) => void;
}

interface Entry {
  readonly time: number;
  /** Of two events at the same time, the one added first comes first. */
  readonly order: number;
  readonly act: () => void;
}

/** Makes an empty queue, at time zero. */
export function createEventQueue(): EventQueue {
  const heap: Entry[] = [];
  let [time, order] = [0, 0];
  return {
    now: () => time,
    at: (when, act) => push(heap, { time: Math.max(when, time), order: order++, act }),
    runUntil(end) {
      for (let next = heap[0]; next !== undefined && next.time <= end; next = heap[0]) {
        pop(heap);
        time = next.time;
        next.act();
      }
      time = end;
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(entry, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
    const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = 2 * at + (child === right ? 2 : 1);
  }
  heap[at] = last;
}
