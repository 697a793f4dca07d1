/** Small things that the page remembers between visits, where the browser lets it. */

import * as v from 'valibot';
import type { StorageFormat } from '../../adapters/storage/indexeddb.ts';
import { kindsOf, storageFormat } from './formats.ts';

/** Named notes. Without browser storage they read as empty. */
export interface Notes {
  read<S extends v.GenericSchema>(name: string, schema: S): v.InferOutput<S> | undefined;
  /** Writes the note, or without a value removes it. */
  write(name: string, value: unknown): void;
}

/** The two calls that a store of texts needs. */
export type TextStore = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * Creates notes over `localStorage` or its like; `store` may throw, as in a private window. Where a newer version of the page has
 * written them, they read as empty, and nothing is written.
 */
export function createNotes(
  store: () => TextStore,
  { format = storageFormat('settings'), names = kindsOf('settings') }: {
    readonly format?: StorageFormat;
    /** The notes that steps of the format are about. */
    readonly names?: readonly string[];
  } = {},
): Notes {
  let isNewer: boolean | undefined;
  const requireOurs = (): void => {
    isNewer ??= !bringUpToDate(store(), format, names);
    if (isNewer) throw new Error('A newer version of the page wrote these settings');
  };
  return {
    read(name, schema) {
      try {
        requireOurs();
        const result = v.safeParse(schema, JSON.parse(store().getItem(keyOf(name)) ?? 'null'));
        return result.success ? result.output : undefined;
      } catch {
        return undefined;
      }
    },
    write(name, value) {
      try {
        requireOurs();
        if (value === undefined) store().removeItem(keyOf(name));
        else store().setItem(keyOf(name), JSON.stringify(value));
      } catch {
        // Not remembered; the choice holds until the page is closed.
      }
    },
  };
}

/** Upgrades the notes to the current format. Returns false where they are of a later one. */
function bringUpToDate(store: TextStore, { version, upgrade }: StorageFormat, names: readonly string[]): boolean {
  const from = Number(store.getItem(keyOf('format')) ?? 1);
  if (from > version) return false;
  for (const name of from < version ? names : []) {
    const text = store.getItem(keyOf(name));
    if (text === null) continue;
    try {
      store.setItem(keyOf(name), JSON.stringify(upgrade({ key: [name], value: JSON.parse(text) }, from)));
    } catch {
      // it stays: what cannot be read is as if it were not there
    }
  }
  if (from < version) store.setItem(keyOf('format'), String(version));
  return true;
}

function keyOf(name: string): string {
  return `pinnace.${name}`;
}
