/** Loads on first use. */

/** Returns a function that loads once and returns the same for every call. After a failed load, the next call loads again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
}
