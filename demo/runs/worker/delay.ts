/** Lets work wait for more of its kind. */

/** Collects items for a while, from the first on, then hands them on; `flush` does so at once. */
export function createDelay<T>(
  delayMs: number,
  handOn: (items: ReadonlySet<T>) => void,
): { readonly add: (item: T) => void; readonly flush: () => void } {
  let items = new Set<T>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const now = items;
    items = new Set();
    handOn(now);
  };
  return {
    flush,
    add(item) {
      items.add(item);
      timer ??= setTimeout(flush, delayMs);
    },
  };
}
