/**
 * What waits for the person: of this page's worker and of the connected server, as one list.
 *
 * - The list is that of the runtimes. It is read when the page is idle, and followed from then on.
 * - A call of a chat of this page is decided on in its chat, which then goes on; any other at its runtime.
 */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { fromData } from '../../../src/base/errors.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { InboxDetail, InboxItem } from '../../../src/runtime/index.ts';
import type { McpContent } from '../../chat/state/run.ts';

/** An item, and the server that it waits at; without one, this page. */
export interface WaitingItem extends InboxItem {
  readonly via: string | undefined;
}

/** What a person says to an item. */
export interface WaitingDecision extends Decision {
  readonly input?: unknown;
  readonly answer?: unknown;
}

export interface WaitingOptions {
  readonly rooms: (via: string | undefined) => Promise<Pick<McpContent, 'inbox'>>;
  readonly chosen: () => string | undefined;
  /** Decides on the call in its chat, where this page has it: `send` sends the decision. */
  readonly decideInChat: (item: WaitingItem, decision: Decision, send: () => Promise<void>) => Promise<void>;
}

/** The list, for all that shows it. */
export class WaitingList {
  readonly #options: WaitingOptions;
  readonly #byPlace = signal<ReadonlyMap<string | undefined, readonly InboxItem[]>>(new Map());
  readonly #followed = new Map<string | undefined, AbortController>();

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  readonly items: ReadonlySignal<readonly WaitingItem[]> = computed(() =>
    [...this.#byPlace.value].flatMap(([via, items]) => items.map((item) => ({ ...item, via })))
      .toSorted((a, b) => a.openedAt - b.openedAt)
  );

  /** Follows this page's items and those of the server that is chosen now. Repeating it follows what was lost. */
  follow(): void {
    const wanted = new Set([undefined, this.#options.chosen()]);
    for (const [via, stop] of this.#followed) if (!wanted.has(via)) stop.abort();
    for (const via of wanted) if (!this.#followed.has(via)) void this.#followPlace(via);
  }

  async detail({ id, via }: WaitingItem): Promise<InboxDetail> {
    return await (await this.#options.rooms(via)).inbox.get(id);
  }

  /** Decides on an item. Returns what went wrong. */
  async decide(item: WaitingItem, { input, answer, ...decision }: WaitingDecision): Promise<string | undefined> {
    const { id, seen, via } = item;
    let problem: string | undefined;
    let isSent = false;
    const send = async (): Promise<void> => {
      isSent = true;
      try {
        const more = { ...(input !== undefined && { input }), ...(answer !== undefined && { answer }) };
        const [result] = await (await this.#options.rooms(via)).inbox.decide([{ id, seen, ...decision, ...more }]);
        if (result?.state === 'refused') throw fromData(result.error);
      } catch (error) {
        problem = error instanceof Error ? error.message : 'The decision was not sent';
        throw error;
      }
    };
    await this.#options.decideInChat(item, decision, send);
    if (!isSent) await send().catch(() => undefined); // `problem` says it
    return problem;
  }

  async #followPlace(via: string | undefined): Promise<void> {
    const stop = new AbortController();
    this.#followed.set(via, stop);
    try {
      const { inbox } = await this.#options.rooms(via);
      const reader = (await inbox.watch({ signal: stop.signal })).getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const known = this.#byPlace.value.get(via) ?? [];
        const { value: change } = next;
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
    this.#set(via, []);
  }

  #set(via: string | undefined, items: readonly InboxItem[]): void {
    this.#byPlace.value = new Map(this.#byPlace.value).set(via, items);
  }
}
