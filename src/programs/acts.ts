/** The acting calls that a program states before it starts. Calls come in their order; a call outside of them never runs. */

import type { ProgramAct } from '../tools/tool.ts';

/** An entry as the stream shows it. */
export interface ShownAct extends ProgramAct {
  /** How many of its calls have started. */
  readonly done: number;
}

/** What a program may still do. */
export class Acts {
  readonly #entries: readonly { readonly act: ProgramAct; taken: number; done: number }[];
  /** By the number of a call: its entry. */
  readonly #planned = new Map<number, number>();
  #current = 0;

  constructor(acts: readonly ProgramAct[]) {
    this.#entries = acts.map((act) => ({ act, taken: 0, done: 0 }));
  }

  /** Takes an acting call, in the order of their numbers: it belongs to the current entry or to a later one. */
  take(n: number, tool: string): void {
    const at = this.#entries.findIndex(({ act, taken }, i) =>
      i >= this.#current && act.tool === tool && taken < act.times
    );
    const entry = this.#entries[at];
    if (!entry) return;
    entry.taken += 1;
    this.#current = at;
    this.#planned.set(n, at);
  }

  isPlanned(n: number): boolean {
    return this.#planned.has(n);
  }

  /** The call has started. */
  started(n: number): void {
    const entry = this.#entries[this.#planned.get(n) ?? -1];
    if (entry) entry.done += 1;
  }

  list(): readonly ShownAct[] {
    return this.#entries.map(({ act, done }) => ({ ...act, done }));
  }
}
