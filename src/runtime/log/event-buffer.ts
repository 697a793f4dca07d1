/** The recorded events of a live run in memory. Readers see the committed ones. */

import type { RunEvent } from './run-record.ts';

/** The buffer. Readers are cursors into it: a slow one costs nothing. */
export interface EventBuffer {
  readonly count: number;
  /** The number of the last event that readers see. */
  readonly visible: number;
  push(text: string): void;
  /** Shows the events up to this number. */
  show(seq: number): void;
  /** Nothing more will come. */
  close(): void;
  /** The visible events behind `after`, some at a time; `undefined` when there are none and none will come. */
  read(after: number): Promise<readonly RunEvent[] | undefined>;
}

const eventsPerRead = 64;

/** Creates an empty buffer of the events behind number `first`, which readers find in the storage. */
export function createEventBuffer(first = 0): EventBuffer {
  const texts: string[] = [];
  let visible = first;
  let closed = false;
  let news = Promise.withResolvers<void>();
  const notify = (): void => {
    news.resolve();
    news = Promise.withResolvers<void>();
  };
  return {
    get count() {
      return texts.length;
    },
    get visible() {
      return visible;
    },
    push: (text) => void texts.push(text),
    show(seq) {
      visible = Math.min(seq, first + texts.length);
      notify();
    },
    close() {
      closed = true;
      notify();
    },
    async read(after) {
      while (after >= visible) {
        if (closed) return undefined;
        await news.promise;
      }
      const end = Math.min(visible, after + eventsPerRead);
      return texts.slice(after - first, end - first).map((text, i) => ({ seq: after + i + 1, text }));
    },
  };
}
