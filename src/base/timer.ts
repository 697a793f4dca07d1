/** The longest delay of `setTimeout`, in milliseconds: with a longer one it would fire at once. */
export const longestTimeoutMs = 2_147_483_647;

/** Starts a timer that waits at most `longestTimeoutMs`; returns its id for `clearTimeout`. */
export function setBoundedTimeout(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(delayMs, longestTimeoutMs));
}

/** Waits for the work, but no longer than this. Rejects as the work does while it waits. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setBoundedTimeout(resolve, ms);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
