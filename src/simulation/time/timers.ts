/** Timers that fire when a scenario moves its clock. */

interface Timer {
  readonly id: number;
  at: number;
  readonly everyMs: number | undefined;
  readonly callback: () => void;
  /** Does not keep a process alive, and is not counted. */
  isSilent: boolean;
}

/** What a platform returns for a timer: a number, or in Node an object that code of Node calls. */
export type TimerHandle = number | object;

/** The timers of a thread. */
export interface Timers {
  readonly now: () => number;
  readonly setTimeout: (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => TimerHandle;
  readonly setInterval: (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => TimerHandle;
  readonly clear: (id: unknown) => void;
  /** As `AbortSignal.timeout` sets one. */
  readonly setSilent: (callback: () => void, ms: number) => void;
  readonly count: () => number;
  readonly drop: () => void;
  /** Fires the next timer that is due by then; `false` when there is none. */
  readonly fire: (until: number) => boolean;
  readonly skipTo: (until: number) => void;
}

/** Creates timers whose time starts then. */
export function createTimers(start: number): Timers {
  const timers = new Map<number, Timer>();
  const hasObjects = platformHasObjects();
  let time = start;
  let ids = 0;
  const set = (callback: () => void, ms: number, { everyMs, isSilent = false }: Partial<Timer> = {}): number => {
    const id = ++ids;
    timers.set(id, { id, at: time + Math.max(1, ms), everyMs, callback, isSilent });
    return id;
  };
  const handleOf = (id: number): TimerHandle => hasObjects ? nodeTimer(id, timers) : id;
  return {
    now: () => time,
    setTimeout: (callback, ms = 0, ...given) => handleOf(set(() => callback(...given), ms)),
    setInterval: (callback, ms = 0, ...given) =>
      handleOf(set(() => callback(...given), ms, { everyMs: Math.max(1, ms) })),
    clear: (id) => void timers.delete(Number(id)),
    setSilent: (callback, ms) => void set(callback, ms, { isSilent: true }),
    count: () => timers.values().filter(({ isSilent }) => !isSilent).toArray().length,
    drop: () => timers.clear(),
    fire(until) {
      const next = [...timers.values()].reduce<Timer | undefined>((a, b) => a && a.at <= b.at ? a : b, undefined);
      if (!next || next.at > until) return false;
      time = Math.max(time, next.at);
      if (next.everyMs === undefined) timers.delete(next.id);
      else next.at += next.everyMs;
      next.callback();
      return true;
    },
    skipTo: (until) => void (time = Math.max(time, until)),
  };
}

function platformHasObjects(): boolean {
  const handle: unknown = setTimeout(() => undefined, 0);
  clearTimeout(handle as number); // what the platform has returned
  return typeof handle === 'object';
}

/** The object that Node returns for a timer. One that was `unref`ed does not keep a process alive, and is not counted. */
function nodeTimer(id: number, timers: ReadonlyMap<number, Timer>): object {
  const setSilent = (isSilent: boolean): void => {
    const timer = timers.get(id);
    if (timer) timer.isSilent = isSilent;
  };
  const handle = {
    ref: () => (setSilent(false), handle),
    unref: () => (setSilent(true), handle),
    hasRef: () => timers.get(id)?.isSilent === false,
    refresh: () => handle,
    [Symbol.toPrimitive]: () => id,
  };
  return handle;
}
