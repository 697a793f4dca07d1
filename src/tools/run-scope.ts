/** What tools keep open for as long as a run goes on, as a connection that all its calls share. */

/** Something that is closed when its run ends. `close` never rejects. */
export interface Closable {
  close(): Promise<void>;
}

/** The keeper of one run. */
export interface RunScope {
  /** Gives what is kept under the key; the first time, what `open` gives. After the end it is closed at once. */
  keep<T extends Closable>(key: object, open: () => T): T;
  /** Closes everything. Twice equals once. */
  close(): Promise<void>;
}

/** Gives a scope that keeps nothing yet. */
export function createRunScope(): RunScope {
  const kept = new Map<object, Closable>();
  let ended = false;
  return {
    keep<T extends Closable>(key: object, open: () => T): T {
      const known = kept.get(key);
      if (known) return known as T; // safe: whoever holds the key alone keeps something under it
      const made = open();
      if (ended) void made.close();
      else kept.set(key, made);
      return made;
    },
    async close() {
      ended = true;
      const all = [...kept.values()];
      kept.clear();
      await Promise.all(all.map((one) => one.close()));
    },
  };
}
