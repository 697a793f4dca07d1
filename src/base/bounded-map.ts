/** A map with a capacity: adding an entry to a full map evicts the least recently used one. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #capacity: number;
  readonly #onEvict: ((value: V, key: K) => void) | undefined;

  /** @param onEvict Receives each evicted entry; deletions and `clear` do not call it. */
  constructor(capacity: number, onEvict?: (value: V, key: K) => void) {
    super();
    this.#capacity = capacity;
    this.#onEvict = onEvict;
  }

  /** Sets the value and marks the entry as the most recently used. `get` and `has` do not change the order. */
  override set(key: K, value: V): this {
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#capacity) this.#evictOldest();
    return this;
  }

  /** Returns the value and marks its entry as the most recently used. */
  use(key: K): V | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Returns the value, created when absent, and marks its entry as the most recently used. */
  getOrCreate(key: K, create: () => V): V {
    const value = super.get(key) ?? create();
    this.set(key, value);
    return value;
  }

  #evictOldest(): void {
    for (const [key, value] of this) {
      super.delete(key);
      this.#onEvict?.(value, key);
      return;
    }
  }
}
