/** Lets runs that start go before runs that stream: the first byte of a new run matters more than the next one of another. */

/** A gate that is closed while runs start. */
export interface StartGate {
  /** Says that a run starts. Returns the function that says that it has started, or was refused. */
  enter(): () => void;
  /** Resolves when the gate is open; `undefined` when it is. */
  pass(): Promise<void> | undefined;
}

/** How long the gate is closed at most, and how long it is open then: streams have half of the time at least. */
const longestMs = 100;

/** Creates an open gate. It has one timer, and only while streams wait. */
export function createStartGate(now: () => number): StartGate {
  let starting = 0;
  let openUntil = -Infinity;
  let waiting: (() => void)[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const all = waiting;
    waiting = [];
    for (const go of all) go();
  };
  return {
    enter() {
      starting += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        starting -= 1;
        if (starting === 0) open();
      };
    },
    pass() {
      const leftMs = openUntil - now();
      if (starting === 0 || (leftMs > 0 && leftMs <= longestMs)) return undefined;
      timer ??= setTimeout(() => {
        openUntil = now() + longestMs;
        open();
      }, longestMs);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
