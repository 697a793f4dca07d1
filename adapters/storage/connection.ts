/** A connection that opens when it is first used, opens again after a failure, and refuses everything once it is closed. */

import { storageClosed } from './unavailable.ts';

/** Lends what is open. */
export interface Connection<Opened> {
  use<Result>(call: (opened: Opened) => Promise<Result>): Promise<Result>;
  /** Drops what was open but no longer works: the next use opens anew. */
  forget(opened: Opened): void;
  /** Waits for the calls under way, then closes. */
  close(): Promise<void>;
}

/** Makes a connection out of how to open and how to shut. */
export function createConnection<Opened>(
  { open, shut }: { open: () => Promise<Opened>; shut: (opened: Opened) => void },
): Connection<Opened> {
  const running = new Set<Promise<unknown>>();
  let opening: Promise<Opened> | undefined;
  let current: Opened | undefined;
  let closing: Promise<void> | undefined;

  function forget(opened: Opened): void {
    if (current === opened) opening = current = undefined;
  }

  async function start(): Promise<Opened> {
    try {
      return current = await open();
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  async function use<Result>(call: (opened: Opened) => Promise<Result>): Promise<Result> {
    if (closing !== undefined) throw storageClosed();
    const result = (opening ??= start()).then(call);
    running.add(result);
    try {
      return await result;
    } finally {
      running.delete(result);
    }
  }

  async function finish(): Promise<void> {
    await Promise.allSettled(running);
    if (current !== undefined) shut(current);
  }

  return { use, forget, close: () => closing ??= finish() };
}
