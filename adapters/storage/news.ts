/** Notifies watchers of commits in this process. */

import { byteString } from './changes.ts';

export interface News {
  watch(ids: readonly string[], options: { readonly signal: AbortSignal; readonly onNews: () => void }): void;
  emit(ids: readonly string[]): void;
  emitAll(): void;
}

export function createNews(): News {
  const watchers = new Map<string, Set<() => void>>();
  return {
    watch(ids, { signal, onNews }) {
      if (signal.aborted) return;
      for (const id of ids) watchers.set(id, (watchers.get(id) ?? new Set()).add(onNews));
      signal.addEventListener('abort', () => {
        for (const id of ids) {
          const set = watchers.get(id);
          set?.delete(onNews);
          if (set?.size === 0) watchers.delete(id);
        }
      }, { once: true });
    },
    emit(ids) {
      if (watchers.size > 0) callOnce(ids.map((id) => watchers.get(id)));
    },
    emitAll: () => callOnce([...watchers.values()]),
  };
}

function callOnce(sets: readonly (ReadonlySet<() => void> | undefined)[]): void {
  for (const onNews of new Set(sets.flatMap((set) => [...set ?? []]))) queueMicrotask(onNews);
}

/** A number for a key, by which locks and news name it (FNV-1a, 32 bits). Two keys that share it wait or are notified needlessly. */
export function keyHash(bytes: Uint8Array): number {
  return textHash(byteString(bytes));
}

/** The same of text with one character per byte. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
