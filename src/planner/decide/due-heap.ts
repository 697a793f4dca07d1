/** Times at which something is due, the next first. */

/** One time, and what is due then. */
export interface Due {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: 'retry' | 'wait' | 'reply' | 'ask' | 'deadline';
  /** The step, agent, message or question that it is about. */
  readonly id: string;
}

/** A binary heap of times. */
export interface DueHeap {
  add(due: Due): void;
  /** The next, without taking it. */
  peek(): Due | undefined;
  take(): Due | undefined;
  all(): readonly Due[];
}

/** Gives a heap, empty. Equal times come out in the order of their ids, so that every fold does the same. */
export function createDueHeap(): DueHeap {
  const heap: Due[] = [];
  const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.id < b.id);
  const swap = (i: number, j: number): void => {
    const due = heap[i] as Due; // safe: both are inside
    heap[i] = heap[j] as Due;
    heap[j] = due;
  };
  const before = (i: number, j: number): boolean => {
    const [a, b] = [heap[i], heap[j]];
    return a !== undefined && b !== undefined && isBefore(a, b);
  };
  return {
    add(due) {
      heap.push(due);
      for (let i = heap.length - 1; i > 0 && before(i, (i - 1) >> 1); i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
    },
    peek: () => heap[0],
    take() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || heap.length === 0) return first;
      heap[0] = last;
      for (let i = 0;;) {
        const child = before(2 * i + 2, 2 * i + 1) ? 2 * i + 2 : 2 * i + 1;
        if (!before(child, i)) return first;
        swap(i, child);
        i = child;
      }
    },
    all: () => heap,
  };
}
