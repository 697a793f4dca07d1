/** How many calls of one tool go on at once on this instance; more wait their turn. */

import { PinnaceError } from '../base/errors.ts';

/** Places for calls, by tool. */
export interface Slots {
  /**
   * Waits for a slot and returns the function that frees it.
   *
   * @throws PinnaceError `cancelled` when the signal aborts before there is one.
   */
  take(toolId: string, limit: number, signal: AbortSignal): Promise<() => void>;
}

interface SlotQueue {
  taken: number;
  readonly waiting: (() => void)[];
}

/** Creates slots, all free. */
export function createSlots(): Slots {
  const places = new Map<string, SlotQueue>();
  const free = (toolId: string, place: SlotQueue): void => {
    const next = place.waiting.shift();
    if (next) return next(); // the place goes from hand to hand
    place.taken -= 1;
    if (place.taken === 0) places.delete(toolId);
  };
  return {
    async take(toolId, limit, signal) {
      const place = places.get(toolId) ?? { taken: 0, waiting: [] };
      places.set(toolId, place);
      if (place.taken < limit) place.taken += 1;
      else await turn(place, toolId, signal);
      let held = true;
      return () => {
        if (held) free(toolId, place);
        held = false;
      };
    },
  };
}

async function turn({ waiting }: SlotQueue, toolId: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    const at = waiting.indexOf(resolve);
    if (at >= 0) waiting.splice(at, 1);
    reject(new PinnaceError('cancelled', `Tool "${toolId}" was stopped before its turn came`));
  };
  waiting.push(resolve);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
