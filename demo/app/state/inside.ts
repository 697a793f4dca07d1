/** Where inside a screen the person is, as parts of the page's address. */

import { effect, type Signal, untracked } from '@preact/signals';

interface InsideOptions {
  /** Written by the address; here, when the person goes on inside the screen. */
  readonly at: Signal<readonly string[]>;
  /** Where the screen is now; empty at its start. */
  readonly read: () => readonly string[];
  /** Takes the screen there. Where that is impossible it stays, and the address follows it. */
  readonly go: (at: readonly string[]) => Promise<void> | void;
}

/** Keeps a screen and its part of the address the same, whichever changes. */
export function followInside({ at, read, go }: InsideOptions): void {
  let isGoing = false;

  async function goThere(): Promise<void> {
    isGoing = true;
    let wanted: readonly string[];
    do {
      wanted = at.peek();
      await Promise.resolve(go(wanted)).catch(() => undefined); // the screen shows why it stays
    } while (at.peek() !== wanted); // the person went back again meanwhile
    isGoing = false;
    setPlace(at, untracked(read));
  }

  effect(() => {
    const wanted = at.value;
    if (!isGoing && !isSame(wanted, untracked(read))) void goThere();
  });
  effect(() => {
    const now = read();
    if (!isGoing) setPlace(at, now);
  });
}

/** Sets the place if it is another one. */
export function setPlace(at: Signal<readonly string[]>, place: readonly string[]): void {
  if (!isSame(at.peek(), place)) at.value = place;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i]);
}
