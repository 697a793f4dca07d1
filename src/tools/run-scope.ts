/** What tools keep open for as long as a run goes on, as a connection that all its calls share. */

/** Something that is closed when its run ends. `close` never rejects. */
export interface Closable {
  close(): Promise<void>;
}

/** What the tools of one run keep open. */
export interface RunScope {
  /** Returns what is stored under the key; opens it the first time. After the end of the run it is closed at once. */
  keep<T extends Closable>(key: object, open: () => T): T;
  /** Closes everything. Twice equals once. */
  close(): Promise<void>;
}

/** Creates an empty scope. */
export function createRunScope(): RunScope {
  const opened = new Map<object, Closable>();
  let ended = false;
  return {
    keep<T extends Closable>(key: object, open: () => T): T {
      const known = opened.get(key);
      if (known) return known as T; // safe: only the owner of the key stores something under it
      const made = open();
      if (ended) void made.close();
      else opened.set(key, made);
      return made;
    },
    async close() {
      ended = true;
      const all = [...opened.values()];
      opened.clear();
      await Promise.all(all.map((one) => one.close()));
    },
  };
}
