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

type AsyncMethod = (...args: never[]) => Promise<unknown>;
type AsyncNames<T> = { [K in keyof T]: T[K] extends AsyncMethod ? K : never }[keyof T];

/** Returns these methods of what is loaded, each of which loads first. A call rejects when loading fails, and the next one loads again. */
export function onUse<T, K extends AsyncNames<T>>(load: () => Promise<T>, ...names: readonly K[]): Pick<T, K> {
  const method = (name: K) => async (...args: never[]): Promise<unknown> => {
    const loaded = await load();
    return await (loaded[name] as AsyncMethod).call(loaded, ...args); // safe: `K` names such methods only
  };
  return Object.fromEntries(names.map((name) => [name, method(name)])) as Pick<T, K>; // safe: each passes its arguments on
}
