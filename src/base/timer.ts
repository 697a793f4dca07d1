/** The longest delay of `setTimeout`, in milliseconds: with a longer one it would fire at once. */
export const longestTimeoutMs = 2_147_483_647;

/** Starts a timer that waits at most `longestTimeoutMs`; returns its id for `clearTimeout`. */
export function setBoundedTimeout(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(delayMs, longestTimeoutMs));
}
