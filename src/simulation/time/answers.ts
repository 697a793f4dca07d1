/** Answers that wait until nothing else can go on, so that their order does not depend on the platform. */

/** Work under way. */
export interface Answers {
  /** Returns a promise that settles as the work does, when `release` delivers it; at once while time does not pass. */
  readonly hold: <T>(work: Promise<T>) => Promise<T>;
  /** Delivers what is ready. Returns whether the event loop must turn again before time may pass. */
  readonly release: () => boolean;
}

/** Answers that are delivered one by one, in the order in which they are ready. Time passes for work that is not. */
export function singleAnswers(isPassing: () => boolean): Answers {
  const ready: (() => void)[] = [];
  const queue = (deliver: () => void): void => void (isPassing() ? ready.push(deliver) : deliver());
  return {
    hold: (work) =>
      new Promise((resolve, reject) => {
        work.then((value) => queue(() => resolve(value)), (error: unknown) => queue(() => reject(error)));
      }),
    release() {
      const deliver = ready.shift();
      deliver?.();
      return deliver !== undefined;
    },
  };
}

interface Pending {
  deliver?: () => void;
}

/** Answers of the platform's other threads, as hashes: delivered in the order of their calls, when all are ready. No time passes for them. */
export function threadAnswers(isPassing: () => boolean): Answers {
  let open: Pending[] = [];
  return {
    hold: (work) =>
      new Promise((resolve, reject) => {
        const pending: Pending = {};
        open.push(pending);
        const settle = (deliver: () => void): void => {
          if (isPassing()) return void (pending.deliver = deliver);
          open = open.filter((one) => one !== pending);
          deliver();
        };
        work.then((value) => settle(() => resolve(value)), (error: unknown) => settle(() => reject(error)));
      }),
    release() {
      if (open.length === 0) return false;
      if (open.some(({ deliver }) => deliver === undefined)) return true;
      for (const { deliver } of open.splice(0)) deliver?.();
      return true;
    },
  };
}
