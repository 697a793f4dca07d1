/** Whether the page opens without a network, and whether a newer one waits. */

import { type Signal, signal } from '@preact/signals';

/** What is known of the page's own files. */
export interface Offline {
  /** The next visit needs no network. */
  readonly isStored: Signal<boolean>;
  /** There is a newer version; `take` loads it, and the page anew. */
  readonly newVersion: Signal<{ readonly take: () => void } | undefined>;
}

/** Creates the state, before anything is known. */
export function createOffline(): Offline {
  return { isStored: signal(false), newVersion: signal(undefined) };
}
