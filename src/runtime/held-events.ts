/** Holds back events until it is known whether there is anything to observe. */

import { type Emit, type EmittedEvent, unobserved } from '../events/events.ts';

/** Events that are held back. */
export interface HeldEvents {
  readonly emit: Emit;
  /** Emits what was held, and from now on everything at once. */
  release(): void;
}

/** Creates events that are held until `release`; what is never released is never emitted. */
export function holdEvents(emit: Emit): HeldEvents {
  if (emit === unobserved) return { emit, release: () => undefined };
  let held: EmittedEvent[] | undefined = [];
  return {
    emit: (event) => void (held ? held.push(event) : emit(event)),
    release() {
      const all = held ?? [];
      held = undefined;
      all.forEach(emit);
    },
  };
}
