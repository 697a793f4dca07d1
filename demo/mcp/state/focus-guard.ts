/** Removes an app that takes the focus while a person uses the page: what they type for the page would go to the app. */

/** Keys by which a person may move into the frame. */
const moves: ReadonlySet<string> = new Set(['Tab', 'F6']);
const modifiers: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta']);
/** After such a pause of typing, the focus may be that of a click or a tap which the page cannot see. */
const pauseMs = 2_000;

interface FocusGuardOptions {
  /** A person has shown the app again: only what takes the focus while they type is removed. */
  readonly isTrusted: boolean;
  readonly onTaken: () => void;
}

/** Guards a frame, and returns what ends that. Any frame may focus itself, inert ones too, and no sandbox prevents it. */
export function guardFocus(frame: HTMLIFrameElement, { isTrusted, onTaken }: FocusGuardOptions): () => void {
  const ended = new AbortController();
  const options = { signal: ended.signal, capture: true };
  let last = document.activeElement;
  let isLed = false; // the pointer, or a key, has just gone to the frame
  let typedAt = -Infinity;
  frame.addEventListener('pointerenter', () => (isLed = true), options);
  document.addEventListener('keydown', ({ key, timeStamp }) => {
    if (modifiers.has(key)) return;
    isLed = moves.has(key);
    typedAt = timeStamp;
  }, options);
  document.addEventListener('focusin', ({ target }) => {
    if (target === frame || !(target instanceof Element)) return;
    last = target;
    isLed = false;
  }, options);
  globalThis.addEventListener('blur', ({ timeStamp }) => {
    if (document.activeElement !== frame || isLed) return;
    const isBelieved = isTrusted || frame.matches(':hover') || matchMedia('(hover: none)').matches;
    if (isBelieved && timeStamp - typedAt > pauseMs) return;
    if (!(last instanceof HTMLElement) || last === document.body || !last.isConnected) return;
    const own = last;
    frame.remove(); // at once: an app that goes on asking would get the next keys
    setTimeout(() => own.focus({ preventScroll: true })); // the focus has moved only after this event
    onTaken();
  }, { signal: ended.signal });
  return () => ended.abort();
}
