/** The events of a live run in memory: all that were recorded, of which readers see what is committed. */

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

/** Gives an empty buffer. */
export function createEventBuffer(): EventBuffer {
  const texts: string[] = [];
  let visible = 0;
  let closed = false;
  let news = Promise.withResolvers<void>();
  const tell = (): void => {
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
      visible = Math.min(seq, texts.length);
      tell();
    },
    close() {
      closed = true;
      tell();
    },
    async read(after) {
      while (after >= visible) {
        if (closed) return undefined;
        await news.promise;
      }
      const end = Math.min(visible, after + eventsPerRead);
      return texts.slice(after, end).map((text, i) => ({ seq: after + i + 1, text }));
    },
  };
}
