/** The search of the knowledge panel: follows the typed text and drops outdated results. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { FoundParts, KnowledgeControl } from '../../control/knowledge-control.ts';

export interface KnowledgeSearch {
  readonly text: ReadonlySignal<string>;
  /** The files that are searched; all when empty. */
  readonly scope: ReadonlySignal<readonly string[]>;
  /** What was found for the text as it was a moment ago; `undefined` without a text. */
  readonly found: ReadonlySignal<FoundParts | undefined>;
  readonly isSearching: ReadonlySignal<boolean>;
  readonly problem: Signal<string | undefined>;
  /** Searches once nothing was typed for a moment. */
  type(text: string): void;
  searchIn(files: readonly string[]): void;
  /** Returns more of what was found. */
  more(): void;
  /** Searches again: the files have changed. */
  refresh(): void;
}

/** How long nothing must be typed. */
const pauseMs = 120;
const first = 20;
const most = 100;

/** Creates a search without a text. */
export function createKnowledgeSearch(control: Pick<KnowledgeControl, 'search'>): KnowledgeSearch {
  const text = signal('');
  const scope = signal<readonly string[]>([]);
  const found = signal<FoundParts | undefined>(undefined);
  const isSearching = signal(false);
  const problem = signal<string | undefined>(undefined);
  let limit = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;

  async function search(): Promise<void> {
    const own = ++asked;
    const wanted = text.value.trim();
    if (wanted === '') {
      found.value = undefined;
      isSearching.value = false;
      return;
    }
    isSearching.value = true;
    try {
      const answer = await control.search({ text: wanted, files: scope.value, limit });
      if (own !== asked) return;
      if (answer.ok) found.value = answer.value;
      problem.value = answer.ok ? undefined : answer.error.message;
    } catch {
      if (own === asked) problem.value = 'The search did not respond. Reload the page to try again.';
    } finally {
      if (own === asked) isSearching.value = false;
    }
  }

  function searchIn(ms: number): void {
    clearTimeout(timer);
    if (text.value.trim() === '') void search();
    else timer = setTimeout(() => void search(), ms);
  }

  return {
    text,
    scope,
    found,
    isSearching,
    problem,
    type(now) {
      text.value = now;
      limit = first;
      searchIn(pauseMs);
    },
    searchIn(files) {
      scope.value = files;
      limit = first;
      searchIn(0);
    },
    more() {
      limit = most;
      searchIn(0);
    },
    refresh: () => searchIn(pauseMs),
  };
}
