/** Gathers what arrives between two frames, so that a fast stream costs one rendering per frame. */

/** A queue that hands its items on in order, at most once a frame. */
export interface FrameQueue<T> {
  push(item: T): void;
  /** Hands on what is waiting, now. */
  flush(): void;
}

/** Calls back before the next frame is painted. Returns a function that takes the call back. */
export type Schedule = (callback: () => void) => () => void;

/** Creates a queue in front of `apply`. */
export function createFrameQueue<T>(
  apply: (items: readonly T[]) => void,
  { schedule = nextFrame }: { schedule?: Schedule } = {},
): FrameQueue<T> {
  let waiting: T[] = [];
  let unschedule: (() => void) | undefined;

  function flush(): void {
    unschedule?.();
    unschedule = undefined;
    const items = waiting;
    waiting = [];
    if (items.length > 0) apply(items);
  }

  return {
    push(item) {
      waiting.push(item);
      unschedule ??= schedule(flush);
    },
    flush,
  };
}

/** The next frame, or a quarter of a second where none comes: a page in the background paints nothing. */
export const nextFrame: Schedule = (callback) => {
  let frame = 0;
  const timer = setTimeout(() => {
    cancelAnimationFrame(frame);
    callback();
  }, 250);
  frame = requestAnimationFrame(() => {
    clearTimeout(timer);
    callback();
  });
  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
};
