/** The texts that agents of plans are generating, for tools of this instance that show them. They are not recorded here. */

/** Texts by the plan that they belong to. */
export interface LiveTexts {
  /** Calls back with the text of the current step so far, until the returned function is called. */
  listen(planId: string, onText: (text: string) => void): () => void;
  emit(planId: string, text: string): void;
}

/** Creates a registry without listeners. */
export function createLiveTexts(): LiveTexts {
  const listeners = new Map<string, (text: string) => void>();
  return {
    listen(planId, onText) {
      listeners.set(planId, onText);
      return () => void listeners.delete(planId);
    },
    emit: (planId, text) => listeners.get(planId)?.(text),
  };
}

/**
 * Passes a growing text on whenever it has grown by an eighth, so that all that is passed on stays in proportion to it. The last word
 * is held back, so partial secrets cannot leak.
 */
export function inGrowingPieces(show: (text: string) => void): (text: string) => void {
  let shown = 0;
  return (text) => {
    if (text.length < shown) shown = 0; // the next step
    const whole = text.slice(0, text.search(/\s\S*$/) + 1);
    if (whole.length - shown < Math.max(40, shown / 8)) return;
    shown = whole.length;
    show(whole);
  };
}
