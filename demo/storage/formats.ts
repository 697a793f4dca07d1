/**
 * The formats of the playground's stored data: for each place the steps that led to the current format. A place without steps
 * has format 1. To change a format, add a step at the end; never change an existing step.
 */

import type { StorageFormat } from '../../adapters/storage/indexeddb.ts';
import type { Entry } from '../../src/contracts/storage.ts';

type Stored = Pick<Entry, 'key' | 'value'>;

/** The databases, and the settings in `localStorage`. */
export type Place = 'pinnace' | 'pinnace-playground' | 'pinnace-runs' | 'settings';

export interface Step {
  /** The first part of the keys that it is about; of a setting, its name. */
  readonly kind: string;
  /** Returns the new value without changing the given one. If it throws, the stored value stays and the reader reports it. */
  readonly change: (value: unknown) => unknown;
}

export const places: readonly Place[] = ['pinnace', 'pinnace-playground', 'pinnace-runs', 'settings'];

/** From format 1 on, one after the other. */
const steps: Readonly<Record<Place, readonly Step[]>> = {
  pinnace: [],
  'pinnace-playground': [{ kind: 'message', change: endUndecidableCalls }],
  'pinnace-runs': [],
  settings: [],
};

/** The format of now. */
export function formatOf(place: Place, all = steps): number {
  return 1 + all[place].length;
}

export function kindsOf(place: Place, all = steps): readonly string[] {
  return [...new Set(all[place].map(({ kind }) => kind))];
}

/** Returns the value in the current format. Throws as a step does. */
export function upgrade(place: Place, { key, value }: Stored, from: number, all = steps): unknown {
  const [kind] = key;
  return all[place].slice(from - 1).reduce((before, step) => step.kind === kind ? step.change(before) : before, value);
}

export function storageFormat(place: Place, all = steps): StorageFormat {
  return { version: formatOf(place, all), upgrade: (entry, from) => upgrade(place, entry, from, all) };
}

/** Waiting calls stored before their questions were cannot be decided. */
function endUndecidableCalls(message: unknown): unknown {
  const { parts } = message as { readonly parts?: readonly unknown[] };
  if (!Array.isArray(parts)) return message; // a person's
  const ended = (parts as readonly StoredToolPart[]).map((part) =>
    part.type === 'tool' && part.call.state === 'waiting' && part.call.approval === undefined
      ? { ...part, call: { ...part.call, state: 'undecided' } }
      : part
  );
  return ended.every((part, i) => part === parts[i]) ? message : { ...(message as object), parts: ended };
}

interface StoredToolPart {
  readonly type: string;
  readonly call: { readonly state: string; readonly approval?: unknown };
}
