/** Small things that the page remembers between visits, where the browser lets it. */

import * as v from 'valibot';

/** Named notes. A browser that keeps nothing reads as empty. */
export interface Notes {
  read<S extends v.GenericSchema>(name: string, schema: S): v.InferOutput<S> | undefined;
  /** Writes the note, or without a value removes it. */
  write(name: string, value: unknown): void;
}

/** The two calls that a store of texts needs. */
export type TextStore = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Gives notes over `localStorage` or its like; `store` may throw, as in a private window. */
export function createNotes(store: () => TextStore): Notes {
  return {
    read(name, schema) {
      try {
        const result = v.safeParse(schema, JSON.parse(store().getItem(keyOf(name)) ?? 'null'));
        return result.success ? result.output : undefined;
      } catch {
        return undefined;
      }
    },
    write(name, value) {
      try {
        if (value === undefined) store().removeItem(keyOf(name));
        else store().setItem(keyOf(name), JSON.stringify(value));
      } catch {
        // Not remembered; the choice holds until the page is closed.
      }
    },
  };
}

function keyOf(name: string): string {
  return `pinnace.${name}`;
}
