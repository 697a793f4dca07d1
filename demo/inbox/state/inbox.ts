/** What waits for the person: the lists of this page's worker and of the connected server as one, followed once the page is idle. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { InboxItem } from '../../../src/runtime/index.ts';
import type { McpContent } from '../../chat/state/run.ts';

/** An item, and the server that it waits at; without one, this page. */
export interface WaitingItem extends InboxItem {
  readonly via: string | undefined;
}

interface WaitingOptions {
  readonly rooms: (via: string | undefined) => Promise<Pick<McpContent, 'inbox'>>;
  readonly chosen: () => string | undefined;
}

/** The list, for all that shows it. */
export class WaitingList {
  readonly #options: WaitingOptions;
  readonly #byPlace = signal<ReadonlyMap<string | undefined, readonly InboxItem[]>>(new Map());
  readonly #seen = new Set<string>();
  readonly #followed = new Map<string | undefined, AbortController>();

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  readonly items: ReadonlySignal<readonly WaitingItem[]> = computed(() =>
    [...this.#byPlace.value].flatMap(([via, items]) => items.map((item) => ({ ...item, via })))
      .toSorted((a, b) => a.openedAt - b.openedAt)
  );

  /** Whether the item was here, or was asked before the list was read, and is no longer open. */
  isClosed(id: string, { via, isEarlier }: { readonly via: string | undefined; readonly isEarlier: boolean }): boolean {
    const open = this.#byPlace.value.get(via);
    return open !== undefined && (isEarlier || this.#seen.has(id)) && open.every((item) => item.id !== id);
  }

  /** Follows this page's items and those of the server that is chosen now. Repeating it follows what was lost. */
  follow(): void {
    const wanted = new Set([undefined, this.#options.chosen()]);
    for (const [via, stop] of this.#followed) if (!wanted.has(via)) stop.abort();
    for (const via of wanted) if (!this.#followed.has(via)) void this.#followPlace(via);
  }

  /** The inbox that an item is in. */
  async inboxOf({ via }: Pick<WaitingItem, 'via'>): Promise<McpContent['inbox']> {
    return (await this.#options.rooms(via)).inbox;
  }

  async #followPlace(via: string | undefined): Promise<void> {
    const stop = new AbortController();
    this.#followed.set(via, stop);
    try {
      const inbox = await this.inboxOf({ via });
      const reader = (await inbox.watch({ signal: stop.signal })).getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const known = this.#byPlace.value.get(via) ?? [];
        const { value: change } = next;
        if (change.type === 'opened') showNotice(change.item);
        this.#set(
          via,
          change.type === 'snapshot'
            ? change.items
            : change.type === 'opened'
            ? [...known, change.item]
            : known.filter(({ id }) => id !== change.id),
        );
      }
    } catch {
      // A place that cannot be followed shows nothing; the next visit of the page tries again.
    }
    this.#followed.delete(via);
    this.#set(via, undefined);
  }

  #set(via: string | undefined, items: readonly InboxItem[] | undefined): void {
    const byPlace = new Map(this.#byPlace.value);
    if (items) byPlace.set(via, items);
    else byPlace.delete(via);
    for (const { id } of items ?? []) this.#seen.add(id);
    this.#byPlace.value = byPlace;
  }
}

/** Whether the page may show notices of what waits: it may, it can ask the browser, or it cannot. */
export function noticePermission(): 'granted' | 'default' | 'denied' {
  return 'Notification' in globalThis ? Notification.permission : 'denied';
}

/** Tells a person who has allowed it and looks elsewhere. The text is the tool's title alone: others may see the screen. */
function showNotice({ id, title }: InboxItem): void {
  if (!document.hidden || noticePermission() !== 'granted') return;
  try {
    const notice = new Notification('Waiting for you', { body: title, tag: id });
    notice.addEventListener('click', () => {
      window.focus();
      location.hash = '#/waiting';
    });
  } catch {
    // Browsers of phones show notices of service workers alone: the number in the title stays.
  }
}
