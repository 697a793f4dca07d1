/** The panel's search: a text, what it finds, and which of the finds is chosen. */

import { type Signal, signal } from '@preact/signals';
import type { FoundPage, TreeControl } from '../worker/control.ts';

/** The search. */
export interface TreeFinding {
  readonly query: Signal<string>;
  /** What was found; `undefined` without a text. */
  readonly result: Signal<FoundPage | undefined>;
  readonly chosen: Signal<number>;
  /** Searches for the text; an empty one ends the search. */
  readonly find: (text: string) => Promise<void>;
  /** Moves the choice up or down, around the ends. */
  readonly step: (by: number) => void;
}

/** How many finds are listed. */
export const mostFound = 60;

/** Creates a search without a text. */
export function createTreeFinding(control: Pick<TreeControl, 'search'>): TreeFinding {
  const query = signal('');
  const result = signal<FoundPage | undefined>(undefined);
  const chosen = signal(0);
  return {
    query,
    result,
    chosen,
    async find(text) {
      query.value = text;
      chosen.value = 0;
      const wanted = text.trim();
      const page = wanted === '' ? undefined : await control.search(wanted, mostFound);
      if (query.value === text) result.value = page;
    },
    step(by) {
      const count = result.value?.found.length ?? 0;
      if (count > 0) chosen.value = (chosen.value + by + count) % count;
    },
  };
}
