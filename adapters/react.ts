/** `pinnace/react`: what waits for a person, as a hook. `react` is an optional peer of the package. */

import { useCallback, useEffect, useState } from 'react';
import { type ErrorData, toData } from '../src/base/errors.ts';
import type { InboxChange, InboxDecision, InboxItem, InboxResult, InboxWatch } from '../src/runtime/inbox.ts';

/** What has an inbox: `createClient(…)`, and what `connectRuntime(worker)` returns. */
export interface InboxSource {
  readonly inbox: {
    watch(options?: InboxWatch): Promise<ReadableStream<InboxChange>>;
    decide(decisions: readonly InboxDecision[]): Promise<readonly InboxResult[]>;
  };
}

/** What waits, and how it is decided. */
export interface UsedInbox {
  /** The oldest first. Empty while it is loaded. */
  readonly items: readonly InboxItem[];
  readonly isLoading: boolean;
  /** Why nothing more is read, such as a session that has ended. Another `source` reads again. */
  readonly error: ErrorData | undefined;
  /** Decides on an item as it is listed. What is refused is in the result: see `InboxResult`. */
  decide(item: InboxItem, decision: Omit<InboxDecision, 'id' | 'seen'>): Promise<InboxResult>;
}

interface Seen extends Pick<UsedInbox, 'items' | 'isLoading' | 'error'> {
  readonly of: InboxSource | undefined;
}

const nothing: Seen = { of: undefined, items: [], isLoading: true, error: undefined };

/**
 * Watches an inbox while the component is mounted.
 *
 * @param source Create it outside of components: another one is another inbox.
 * @param options `of: 'tenant'` reads those of all persons, for the scope `admin`.
 * @example
 * const { items, decide } = useInbox(client);
 * return items.map((item) => <button key={item.id} onClick={() => decide(item, { approved: true })}>{item.title}</button>);
 */
export function useInbox(source: InboxSource, { of }: Pick<InboxWatch, 'of'> = {}): UsedInbox {
  const [seen, setSeen] = useState(nothing);
  useEffect(() => {
    const stop = new AbortController();
    const show = (change: (known: Seen) => Partial<Seen>): void => {
      if (!stop.signal.aborted) setSeen((known) => ({ ...known, of: source, ...change(known) }));
    };
    show(() => nothing);
    void (async () => {
      const changes = await source.inbox.watch({ signal: stop.signal, ...(of && { of }) });
      for (const reader = changes.getReader();;) {
        const { done, value } = await reader.read();
        if (done) return;
        show(({ items }) => ({ items: changed(items, value), isLoading: false }));
      }
    })().catch((error: unknown) => show(() => ({ error: toData(error), isLoading: false })));
    return () => stop.abort();
  }, [source, of]);
  const decide = useCallback(async ({ id, seen: digest }: InboxItem, decision: Omit<InboxDecision, 'id' | 'seen'>) => {
    const [result] = await source.inbox.decide([{ ...decision, id, seen: digest }]);
    if (!result) throw new TypeError('The inbox returned no result');
    return result;
  }, [source]);
  const { items, isLoading, error } = seen.of === source ? seen : nothing; // never those of another source
  return { items, isLoading, error, decide };
}

function changed(items: readonly InboxItem[], change: InboxChange): readonly InboxItem[] {
  if (change.type === 'snapshot') return change.items;
  return change.type === 'opened' ? [...items, change.item] : items.filter(({ id }) => id !== change.id);
}
