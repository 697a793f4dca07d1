/** What `SIGINT` and `SIGTERM` do: close every endpoint of the process, then end it. */

import process from 'node:process';

type Close = () => Promise<void>;

/** The endpoints that are open. One process may have several; it ends when the last has closed. */
const open = new Set<Close>();
const signals = ['SIGINT', 'SIGTERM'] as const;
/** When the process ends at the latest, whatever is still open. */
const exitMs = 4_500;

function stop(): void {
  setTimeout(() => process.exit(0), exitMs).unref();
  void Promise.allSettled(Array.from(open, (close) => close())).finally(() => process.exit(0));
}

/** Closes the endpoint on a signal, and ends the process then. Returns how to leave that to others, as after a close. */
export function closeOnSignals(close: Close): () => void {
  if (open.size === 0) { for (const signal of signals) process.once(signal, stop); }
  open.add(close);
  return () => {
    if (!open.delete(close) || open.size > 0) return;
    for (const signal of signals) process.off(signal, stop);
  };
}
